// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A page of 50,000 series, like that of a host with 500 ports: our formats compared with prometheus-cpp's
// serializer, whose model is built outside the measurement, and gzip.
#include <benchmark/benchmark.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <vector>

#include "collectors/counters/tables/port_families.h"
#include "core/exposition/gzip.h"
#include "core/exposition/page_writer.h"
#include "core/labels.h"

namespace {

using namespace rdma_exporter;
using core::Format;

constexpr std::size_t kSeries = 50'000;

std::string device(std::size_t number) { return "mlx5_" + std::to_string(number); }

std::size_t ports() { return kSeries / collectors::curated_port_families().size(); }

// Counters of all sizes, the same for both.
std::uint64_t value(std::size_t port, std::size_t family) {
  return (std::uint64_t{port} * 0x9E3779B97F4A7C15U + family * 0xBF58476D1CE4E5B9U) >> (port % 40 + 16);
}

class Content {
 public:
  Content() {
    for (std::size_t p = 0; p < ports(); ++p)
      owners_.push_back(core::render_labels({{"device", device(p)}, {"port", "1"}}));
    const auto families = collectors::curated_port_families();
    for (std::size_t p = 0; p < ports(); ++p)
      for (std::size_t f = 0; f < families.size(); ++f)
        batch_.add_stable(*families[f], owners_[p], value(p, f));
  }
  const core::SampleBatch& batch() const { return batch_; }

 private:
  std::vector<std::string> owners_;
  core::SampleBatch batch_;
};

void count(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kSeries));
}

void write_page(benchmark::State& state, Format format_name) {
  const Content content;
  const core::SampleBatch* const batches[] = {&content.batch()};
  const auto families = collectors::curated_port_families();
  core::PageWriter writer(families);
  const auto format = core::make_format_writer(format_name);
  std::string page;
  for (auto _ : state) {
    page.clear();
    writer.write(batches, *format, page);
    benchmark::DoNotOptimize(page.data());
  }
  count(state, page.size());
}
BENCHMARK_CAPTURE(write_page, text, Format::text);
BENCHMARK_CAPTURE(write_page, openmetrics, Format::openmetrics);
BENCHMARK_CAPTURE(write_page, protobuf, Format::protobuf);

void compress_page(benchmark::State& state) {
  const Content content;
  const core::SampleBatch* const batches[] = {&content.batch()};
  std::string page;
  core::write_text(collectors::curated_port_families(), batches, page);
  for (auto _ : state) benchmark::DoNotOptimize(core::gzip(page));
  count(state, page.size());
}
BENCHMARK(compress_page);

std::vector<prometheus::MetricFamily> build_model() {
  std::vector<prometheus::MetricFamily> all;
  const auto families = collectors::curated_port_families();
  for (std::size_t f = 0; f < families.size(); ++f) {
    prometheus::MetricFamily model;
    model.name = families[f]->name;
    model.help = families[f]->help;
    model.type = prometheus::MetricType::Counter;
    for (std::size_t p = 0; p < ports(); ++p) {
      prometheus::ClientMetric metric;
      metric.label = {{"device", device(p)}, {"port", "1"}};
      metric.counter.value = static_cast<double>(value(p, f));
      model.metric.push_back(std::move(metric));
    }
    all.push_back(std::move(model));
  }
  return all;
}

void write_page_with_prometheus_cpp(benchmark::State& state) {
  const prometheus::TextSerializer serializer;
  const auto model = build_model();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string page = serializer.Serialize(model);
    bytes = page.size();
    benchmark::DoNotOptimize(page.data());
  }
  count(state, bytes);
}
BENCHMARK(write_page_with_prometheus_cpp);

}  // namespace
