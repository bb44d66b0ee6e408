// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/text_formats.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "core/exposition/page_writer.h"

namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kBytes{"rdma_port_data_bytes_total", MetricType::counter, "port", "bytes", "Data", "x"};
constexpr MetricDesc kEvents{
    "rdma_port_flaps_total", MetricType::counter, "port", "events", "A \"flap\"", "x"};
constexpr MetricDesc kInfo{"rdma_port_info", MetricType::gauge, "port", "", "Always 1", "x"};
constexpr MetricDesc kRate{
    "rdma_port_rate_bytes_per_second", MetricType::gauge, "port", "bytes per second", "Rate", "x"};
constexpr MetricDesc kTime{"rdma_probe_seconds", MetricType::histogram, "target", "seconds", "Time", "x"};
constexpr std::array kFamilies{&kBytes, &kEvents, &kInfo, &kRate, &kTime};

std::string page(const SampleBatch& batch, std::optional<double> start_time = {}) {
  OpenMetricsFormat format(start_time);
  std::string out;
  const SampleBatch* const batches[] = {&batch};
  PageWriter(kFamilies).write(batches, format, out);
  format.finish(out);
  return out;
}

HistogramData example() {
  HistogramData data;
  data.buckets = {{1e-06, 1, {}},
                  {0.5, 2, Exemplar{"device=\"a\"", 0.25, 1700000000.5}},
                  {std::numeric_limits<double>::infinity(), 3, {}}};
  data.sum = 10.5;
  data.created = 1600000000.25;
  return data;
}

TEST(OpenMetricsFormat, NamesFamiliesWithoutTheSuffixOfTheirSamples) {
  SampleBatch batch;
  batch.add(kBytes, "port=\"1\"", std::uint64_t{18446744073709551615U});
  batch.add(kEvents, "port=\"1\"", std::uint64_t{2});
  batch.add(kInfo, "port=\"1\"", std::uint64_t{1});
  batch.add(kRate, "port=\"1\"", 1.25e9);
  EXPECT_EQ(page(batch),
            "# TYPE rdma_port_data_bytes counter\n"
            "# UNIT rdma_port_data_bytes bytes\n"
            "# HELP rdma_port_data_bytes Data\n"
            "rdma_port_data_bytes_total{port=\"1\"} 18446744073709551615\n"
            "# TYPE rdma_port_flaps counter\n"
            "# HELP rdma_port_flaps A \\\"flap\\\"\n"
            "rdma_port_flaps_total{port=\"1\"} 2\n"
            "# TYPE rdma_port info\n"
            "# HELP rdma_port Always 1\n"
            "rdma_port_info{port=\"1\"} 1\n"
            "# TYPE rdma_port_rate_bytes_per_second gauge\n"
            "# HELP rdma_port_rate_bytes_per_second Rate\n"
            "rdma_port_rate_bytes_per_second{port=\"1\"} 1.25e+09\n"
            "# EOF\n");
}

TEST(OpenMetricsFormat, WritesHistogramsWithTheirExemplars) {
  SampleBatch batch;
  batch.add(kTime, "target=\"b\"", example());
  EXPECT_EQ(page(batch),
            "# TYPE rdma_probe_seconds histogram\n"
            "# UNIT rdma_probe_seconds seconds\n"
            "# HELP rdma_probe_seconds Time\n"
            "rdma_probe_seconds_bucket{target=\"b\",le=\"1e-06\"} 1\n"
            "rdma_probe_seconds_bucket{target=\"b\",le=\"0.5\"} 2 # {device=\"a\"} 0.25 1700000000.500\n"
            "rdma_probe_seconds_bucket{target=\"b\",le=\"+Inf\"} 3\n"
            "rdma_probe_seconds_sum{target=\"b\"} 10.5\n"
            "rdma_probe_seconds_count{target=\"b\"} 3\n"
            "# EOF\n");
}

TEST(OpenMetricsFormat, SaysOnRequestSinceWhenItCountsWhereThatIsKnown) {
  SampleBatch kernel;
  kernel.add(kBytes, "port=\"1\"", std::uint64_t{7});
  const std::string without = page(kernel, 1500000000);
  EXPECT_EQ(without.find("_created"), std::string::npos) << "nobody knows when a kernel counter began";

  SampleBatch own;
  own.mark_since_start();
  own.add(kEvents, "port=\"1\"", std::uint64_t{2});
  own.add(kRate, "port=\"1\"", 1.5);
  own.add(kTime, {}, example());
  EXPECT_EQ(page(own).find("_created"), std::string::npos) << "twice the series: only on request";
  const std::string with = page(own, 1500000000);
  EXPECT_NE(
      with.find("rdma_port_flaps_total{port=\"1\"} 2\nrdma_port_flaps_created{port=\"1\"} 1500000000.000\n"),
      std::string::npos);
  EXPECT_NE(with.find("rdma_probe_seconds_count 3\nrdma_probe_seconds_created 1600000000.250\n"),
            std::string::npos);
  EXPECT_EQ(with.find("rate_bytes_per_second_created"), std::string::npos);
}

TEST(OpenMetricsFormat, EndsAnEmptyPage) { EXPECT_EQ(page(SampleBatch()), "# EOF\n"); }

}  // namespace
}  // namespace rdma_exporter::core
