// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/metric.h"

#include <gtest/gtest.h>

namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kGood{
    "rdma_port_packets_total", MetricType::counter, "device,port", "packets", "Packets", "sysfs"};

constexpr MetricDesc with_name(std::string_view name, MetricType type = MetricType::counter) {
  MetricDesc metric = kGood;
  metric.name = name;
  metric.type = type;
  return metric;
}

TEST(Valid, AcceptsAWellFormedRow) { EXPECT_TRUE(valid(kGood)); }

TEST(Valid, RefusesBadNames) {
  for (const std::string_view name :
       {"port_packets_total", "rdma_Port_total", "rdma__port_total", "rdma_port-a_total", ""})
    EXPECT_FALSE(valid(with_name(name))) << name;
}

TEST(Valid, WantsTotalOnCountersAndOnlyThere) {
  EXPECT_FALSE(valid(with_name("rdma_port_packets")));
  EXPECT_FALSE(valid(with_name("rdma_port_packets_total", MetricType::gauge)));
}

TEST(Valid, RefusesTheSuffixesOfAHistogramsSamples) {
  for (const std::string_view name : {"rdma_a_bucket", "rdma_a_count", "rdma_a_sum", "rdma_a_created"})
    EXPECT_FALSE(valid(with_name(name, MetricType::gauge))) << name;
}

TEST(OpenMetricsName, LeavesTheSuffixToTheSamples) {
  EXPECT_EQ(openmetrics_name(kGood), "rdma_port_packets");
  EXPECT_EQ(openmetrics_name(with_name("rdma_port_info", MetricType::gauge)), "rdma_port");
  EXPECT_EQ(openmetrics_name(with_name("rdma_port_up", MetricType::gauge)), "rdma_port_up");
}

constexpr MetricDesc with_labels(std::string_view name, std::string_view labels) {
  MetricDesc metric = with_name(name);
  metric.labels = labels;
  return metric;
}

TEST(Valid, WantsTheLabelsOfThePrefixInFront) {
  EXPECT_TRUE(valid(with_labels("rdma_port_packets_total", "device,port,direction")));
  EXPECT_FALSE(valid(with_labels("rdma_port_packets_total", "device")));
  EXPECT_FALSE(valid(with_labels("rdma_port_packets_total", "device,portal")));
  EXPECT_FALSE(valid(with_labels("rdma_port_packets_total", "direction,device,port")));
  EXPECT_TRUE(valid(with_labels("rdma_pfc_frames_total", "device,port,netdev,priority")));
  EXPECT_FALSE(valid(with_labels("rdma_pfc_frames_total", "netdev,priority")));
  EXPECT_TRUE(valid(with_labels("rdma_exporter_scrapes_total", "")));
}

TEST(Valid, RefusesLabelsThatAScrapeOrAnAlertAdds) {
  for (const std::string_view labels : {"job", "instance", "cluster", "collector,severity", "alertname"})
    EXPECT_FALSE(valid(with_labels("rdma_exporter_scrapes_total", labels))) << labels;
}

TEST(Valid, WantsTheBaseUnitInTheName) {
  MetricDesc metric = kGood;
  metric.unit = "bytes";
  EXPECT_FALSE(valid(metric));
  metric.name = "rdma_port_data_bytes_total";
  EXPECT_TRUE(valid(metric));
}

TEST(Valid, RefusesHelpWithoutTextOrWithControlCharacters) {
  MetricDesc metric = kGood;
  metric.help = "";
  EXPECT_FALSE(valid(metric));
  metric.help = "a\nb";
  EXPECT_FALSE(valid(metric));
}

}  // namespace
}  // namespace rdma_exporter::core
