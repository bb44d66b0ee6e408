// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/page_writer.h"

#include <gmock/gmock.h>
#include <prometheus/check_names.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "core/exposition/text_formats.h"

namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kPackets{
    "rdma_port_packets_total", MetricType::counter, "device,port", "packets", "Packets of a port", "sysfs"};
constexpr MetricDesc kUp{"rdma_device_up", MetricType::gauge, "device", "", "1 if up", "sysfs"};
constexpr std::array<const MetricDesc*, 2> kFamilies{&kUp, &kPackets};

std::string page(std::initializer_list<const SampleBatch*> batches) {
  std::string out;
  const std::vector<const SampleBatch*> all(batches);
  write_text(kFamilies, all, out);
  return out;
}

TEST(WriteText, KeepsFamiliesTogetherAcrossBatchesInTheirOrder) {
  SampleBatch first;
  first.add(kPackets, "device=\"a\"", std::uint64_t{1});
  first.add_flag(kUp, "device=\"a\"", true);
  SampleBatch second;
  second.add(kPackets, "device=\"b\"", std::uint64_t{18446744073709551615U});
  second.add(kUp, "device=\"b\"", 0.5);
  EXPECT_EQ(page({&first, &second}),
            "# HELP rdma_device_up 1 if up\n"
            "# TYPE rdma_device_up gauge\n"
            "rdma_device_up{device=\"a\"} 1\n"
            "rdma_device_up{device=\"b\"} 0.5\n"
            "# HELP rdma_port_packets_total Packets of a port\n"
            "# TYPE rdma_port_packets_total counter\n"
            "rdma_port_packets_total{device=\"a\"} 1\n"
            "rdma_port_packets_total{device=\"b\"} 18446744073709551615\n");
}

TEST(WriteText, LeavesOutFamiliesWithoutSamplesAndUnknownOnes) {
  constexpr MetricDesc kUnknown{"rdma_unknown", MetricType::gauge, "", "", "Not listed", "test"};
  SampleBatch batch;
  batch.add(kUnknown, {}, std::uint64_t{1});
  EXPECT_EQ(page({&batch}), "");
}

TEST(WriteText, WritesASeriesWithoutLabelsWithoutBraces) {
  SampleBatch batch;
  batch.add(kUp, {}, std::uint64_t{1});
  EXPECT_EQ(page({&batch}), "# HELP rdma_device_up 1 if up\n# TYPE rdma_device_up gauge\nrdma_device_up 1\n");
}

TEST(WriteText, EscapesHelp) {
  constexpr MetricDesc kOdd{"rdma_odd", MetricType::gauge, "", "", "a\\b\nc", "test"};
  const std::array<const MetricDesc*, 1> families{&kOdd};
  SampleBatch batch;
  batch.add(kOdd, {}, std::uint64_t{1});
  const SampleBatch* batches[] = {&batch};
  std::string out;
  write_text(families, batches, out);
  EXPECT_TRUE(out.starts_with("# HELP rdma_odd a\\\\b\\nc\n")) << out;
}

// prometheus-cpp's own serializer is the oracle for everything but the three things it does wrong or
// differently (HELP is not escaped, more than 16 digits are rounded, an info line's order), which this input
// avoids.
TEST(WriteText, AgreesWithPrometheusCpp) {
  SampleBatch batch;
  batch.add(kUp, "device=\"a\\\"b\\\\c\\nd\"", std::uint64_t{1});
  batch.add(kPackets, "device=\"a\",port=\"1\"", std::uint64_t{123456789012345});
  batch.add(kPackets, "device=\"a\",port=\"2\"", 0.25);

  prometheus::MetricFamily up{"rdma_device_up", "1 if up", prometheus::MetricType::Gauge, {}};
  prometheus::ClientMetric metric;
  metric.label = {{"device", "a\"b\\c\nd"}};
  metric.gauge.value = 1;
  up.metric.push_back(metric);
  prometheus::MetricFamily packets{
      "rdma_port_packets_total", "Packets of a port", prometheus::MetricType::Counter, {}};
  metric.label = {{"device", "a"}, {"port", "1"}};
  metric.counter.value = 123456789012345;
  packets.metric.push_back(metric);
  metric.label = {{"device", "a"}, {"port", "2"}};
  metric.counter.value = 0.25;
  packets.metric.push_back(metric);
  EXPECT_EQ(page({&batch}), prometheus::TextSerializer().Serialize({up, packets}));
}

// The bounds are those that both print alike; prometheus-cpp says 1 where this says 1.0, see write_bound().
TEST(WriteText, AgreesWithPrometheusCppOnHistograms) {
  constexpr MetricDesc kTime{
      "rdma_probe_seconds", MetricType::histogram, "target", "seconds", "Time of a probe", "x"};
  constexpr std::array kBounds{0.00025, 0.5, 2.5};
  Histogram histogram(kBounds);
  for (const double value : {0.25, 0.25, 1.0, 4.0}) histogram.observe(value, "device=\"not in this format\"");
  SampleBatch batch;
  batch.add(kTime, "target=\"b\"", histogram.data());
  const SampleBatch* const batches[] = {&batch};
  const std::array<const MetricDesc*, 1> families{&kTime};
  std::string ours;
  write_text(families, batches, ours);

  prometheus::MetricFamily family{
      "rdma_probe_seconds", "Time of a probe", prometheus::MetricType::Histogram, {}};
  prometheus::ClientMetric metric;
  metric.label = {{"target", "b"}};
  metric.histogram.sample_count = 4;
  metric.histogram.sample_sum = 5.5;
  metric.histogram.bucket = {{0, 0.00025}, {2, 0.5}, {3, 2.5}, {4, std::numeric_limits<double>::infinity()}};
  family.metric.push_back(metric);
  const std::string theirs = prometheus::TextSerializer().Serialize({family});
  const auto lines = [](const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  };
  EXPECT_THAT(lines(ours), testing::UnorderedElementsAreArray(lines(theirs))) << "it puts the buckets last";
}

TEST(BoundTexts, AreThoseOfTheBoundsWhateverCameBefore) {
  BoundTexts texts;
  const auto many = [&] {
    for (int i = 2; i < 200; ++i) EXPECT_EQ(texts.of(i), std::to_string(i) + ".0");
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(texts.of(0.0005), "0.0005");
    EXPECT_EQ(texts.of(1), "1.0");
    EXPECT_EQ(texts.of(std::numeric_limits<double>::infinity()), "+Inf");
    if (i == 1) many();
  }
}

TEST(SampleBatch, IsEmptyAgainAfterClear) {
  SampleBatch batch;
  batch.add(kUp, "device=\"a\"", std::uint64_t{1});
  batch.clear();
  EXPECT_EQ(batch.size(), 0U);
  batch.add(kUp, "device=\"b\"", std::uint64_t{1});
  EXPECT_EQ(batch.samples().front().labels(), "device=\"b\"");
}

}  // namespace
}  // namespace rdma_exporter::core
