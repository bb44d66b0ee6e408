// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/sample_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kFlaps{"rdma_port_flaps_total", MetricType::counter, "device", "", "Flaps", "a test"};

std::string label(std::size_t number) { return "device=\"mlx5_" + std::to_string(number) + "\""; }

std::vector<std::string> labels_in(const SampleBatch& batch) {
  std::vector<std::string> labels;
  for (const Sample& sample : batch.samples()) labels.push_back(sample.labels());
  return labels;
}

TEST(SampleBatch, KeepsEachLabelItCopiedWhereItIs) {
  SampleBatch batch;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 1000; ++i) {
    expected.push_back(label(i));
    batch.add(kFlaps, expected.back(), std::uint64_t{i});
  }
  EXPECT_EQ(labels_in(batch), expected);
}

TEST(SampleBatch, CopiesLabelsOfAnyLength) {
  SampleBatch batch;
  const std::string longest(100'000, 'x');
  batch.add(kFlaps, label(1), std::uint64_t{1});
  batch.add(kFlaps, longest, std::uint64_t{1});
  batch.add(kFlaps, {}, std::uint64_t{1});
  batch.add(kFlaps, label(2), std::uint64_t{1});
  EXPECT_EQ(labels_in(batch), (std::vector<std::string>{label(1), longest, "", label(2)}));
}

TEST(SampleBatch, TakesOnlyFamiliesOfItsSet) {
  constexpr MetricDesc kMore{"rdma_port_more", MetricType::gauge, "device",       "",
                             "More",           "a test",          MetricSet::full};
  const std::string owner = label(1);
  const auto add_all = [&](SampleBatch& batch) {
    batch.add(kMore, owner, std::uint64_t{1});
    batch.add(kMore, owner, 1.5);
    batch.add(kMore, owner, HistogramData{});
    batch.add_flag(kMore, owner, true);
    batch.add_stable(kMore, owner, std::uint64_t{1});
    batch.add_stable(kMore, owner, 1.5);
  };
  SampleBatch batch(MetricSet::lean);
  EXPECT_TRUE(batch.said_nothing());
  add_all(batch);
  EXPECT_EQ(batch.size(), 0U);
  EXPECT_FALSE(batch.said_nothing()) << "it was told something";
  batch.add_stable(kFlaps, owner, std::uint64_t{1});
  EXPECT_EQ(labels_in(batch), std::vector<std::string>{owner});
  batch.clear();
  EXPECT_TRUE(batch.said_nothing());
  SampleBatch whole;
  add_all(whole);
  EXPECT_EQ(whole.size(), 6U);
}

TEST(SampleBatch, UsesItsMemoryAgain) {
  SampleBatch batch;
  batch.add(kFlaps, label(1), std::uint64_t{1});
  const char* const first = batch.samples().front().owner().data();
  batch.shrink();
  batch.clear();
  EXPECT_EQ(batch.size(), 0U);
  batch.add(kFlaps, label(2), std::uint64_t{1});
  EXPECT_EQ(batch.samples().front().owner().data(), first);
  EXPECT_EQ(labels_in(batch), std::vector<std::string>{label(2)});
}

}  // namespace
}  // namespace rdma_exporter::core
