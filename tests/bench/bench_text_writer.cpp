// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// One page of 9 devices: our writer against prometheus-cpp's serializer, which also needs its model built.
#include <benchmark/benchmark.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <vector>

#include "collectors/port_families.h"
#include "core/labels.h"
#include "core/text_writer.h"

namespace {

using namespace rdma_exporter;

constexpr int kDevices = 9;

std::string device(int number) { return "mlx5_" + std::to_string(number); }

void write_page(benchmark::State& state) {
  const auto families = collectors::curated_port_families();
  std::vector<std::string> owners;
  for (int d = 0; d < kDevices; ++d)
    owners.push_back(core::render_labels({{"device", device(d)}, {"port", "1"}}));
  core::TextWriter writer(families);
  core::SampleBatch batch;
  std::string page;
  for (auto _ : state) {
    batch.clear();
    for (const std::string& owner : owners)
      for (const core::MetricDesc* family : families)
        batch.add_stable(*family, owner, std::uint64_t{12345678901});
    const core::SampleBatch* const batches[] = {&batch};
    page.clear();
    writer.write(batches, page);
    benchmark::DoNotOptimize(page.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.size()));
}
BENCHMARK(write_page);

std::vector<prometheus::MetricFamily> build_model() {
  std::vector<prometheus::MetricFamily> all;
  for (const core::MetricDesc* family : collectors::curated_port_families()) {
    prometheus::MetricFamily model;
    model.name = family->name;
    model.help = family->help;
    model.type = prometheus::MetricType::Counter;
    for (int d = 0; d < kDevices; ++d) {
      prometheus::ClientMetric metric;
      metric.label = {{"device", device(d)}, {"port", "1"}};
      metric.counter.value = 12345678901;
      model.metric.push_back(std::move(metric));
    }
    all.push_back(std::move(model));
  }
  return all;
}

void write_page_with_prometheus_cpp(benchmark::State& state) {
  const prometheus::TextSerializer serializer;
  std::size_t samples = 0;
  for (auto _ : state) {
    const auto model = build_model();
    samples = model.size() * kDevices;
    std::string page = serializer.Serialize(model);
    benchmark::DoNotOptimize(page.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(samples));
}
BENCHMARK(write_page_with_prometheus_cpp);

}  // namespace
