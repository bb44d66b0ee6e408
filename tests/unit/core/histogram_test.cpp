// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/histogram.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace rdma_exporter::core {
namespace {

constexpr std::array kBounds{0.001, 0.01, 0.1};

/// Upper bound -> count, unpacked from spans and deltas as Prometheus does it.
std::map<double, std::int64_t> unpack(const NativeBuckets& native) {
  std::map<double, std::int64_t> buckets;
  std::size_t next = 0;
  std::int64_t count = 0;
  int index = 0;
  for (const NativeBuckets::Span& span : native.spans) {
    index += span.offset;
    for (std::uint32_t i = 0; i < span.length; ++i) {
      count += native.deltas.at(next++);
      if (count != 0) buckets[std::exp2(index / 8.0)] = count;
      ++index;
    }
  }
  EXPECT_EQ(next, native.deltas.size());
  return buckets;
}

TEST(Histogram, CountsIntoTheBucketWhoseBoundIsNotBelow) {
  Histogram histogram(kBounds);
  for (const double value : {0.0005, 0.001, 0.0011, 0.1, 5.0}) histogram.observe(value);
  const HistogramData data = histogram.data();
  ASSERT_EQ(data.buckets.size(), 4U);
  EXPECT_EQ(data.buckets[0].cumulative, 2U);
  EXPECT_EQ(data.buckets[1].cumulative, 3U);
  EXPECT_EQ(data.buckets[2].cumulative, 4U);
  EXPECT_EQ(data.buckets[3].cumulative, 5U);
  EXPECT_TRUE(std::isinf(data.buckets[3].upper_bound));
  EXPECT_EQ(data.count(), 5U);
  EXPECT_DOUBLE_EQ(data.sum, 5.1026);
}

TEST(Histogram, IsCompleteWhileItIsEmpty) {
  const HistogramData data = Histogram(kBounds).data();
  EXPECT_EQ(data.buckets.size(), 4U);
  EXPECT_EQ(data.count(), 0U);
  EXPECT_TRUE(data.native.spans.empty());
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(data.created, now, 60);
}

TEST(Histogram, PutsPowersOfTwoAtTheUpperEndOfTheirNativeBucket) {
  Histogram histogram(kBounds);
  histogram.observe(0.25);
  histogram.observe(std::nextafter(0.25, 1));
  const auto buckets = unpack(histogram.data().native);
  EXPECT_EQ(buckets, (std::map<double, std::int64_t>{{0.25, 1}, {std::exp2(-15 / 8.0), 1}}));
}

TEST(Histogram, PutsEveryValueIntoTheNativeBucketAroundIt) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-23.9, 9.9);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::exp2(exponent(random));
    Histogram histogram(kBounds);
    histogram.observe(value);
    const auto buckets = unpack(histogram.data().native);
    ASSERT_EQ(buckets.size(), 1U);
    const double upper = buckets.begin()->first;
    EXPECT_LE(value, upper * (1 + 1e-12));
    EXPECT_GE(value, upper / std::exp2(1 / 8.0) * (1 - 1e-12));
  }
}

TEST(Histogram, KeepsEveryObservationInItsNativeBuckets) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> exponent(-30, 14);
  Histogram histogram(kBounds);
  for (int i = 0; i < 5000; ++i) histogram.observe(std::exp2(exponent(random)));
  histogram.observe(0);
  histogram.observe(-1);
  const HistogramData data = histogram.data();
  std::int64_t sum = static_cast<std::int64_t>(data.native.zero_count);
  for (const auto& [bound, count] : unpack(data.native)) {
    sum += count;
    EXPECT_LE(bound, 1024) << "values above are clamped, so that the size is bounded";
  }
  EXPECT_EQ(sum, 5002);
  EXPECT_GE(data.native.zero_count, 2U);
}

TEST(Histogram, FillsShortHolesAndSkipsLongOnes) {
  Histogram histogram(kBounds);
  for (const double index : {0.0, 3.0, 10.0}) histogram.observe(std::exp2(index / 8.0) * 0.999);
  const NativeBuckets native = histogram.data().native;
  ASSERT_EQ(native.spans.size(), 2U);
  EXPECT_EQ(native.spans[0].offset, 0);
  EXPECT_EQ(native.spans[0].length, 4U);
  EXPECT_EQ(native.spans[1].offset, 6);
  EXPECT_EQ(native.spans[1].length, 1U);
  EXPECT_EQ(native.deltas, (std::vector<std::int64_t>{1, -1, 0, 1, 0}));
}

TEST(Histogram, KeepsTheLastExampleOfEachBucketUnlessItIsTooLong) {
  Histogram histogram(kBounds);
  histogram.observe(0.002, "device=\"a\"");
  histogram.observe(0.003, "device=\"b\"");
  histogram.observe(0.004, std::string(129, 'x'));
  histogram.observe(0.005);
  histogram.observe(0.05);
  const HistogramData data = histogram.data();
  EXPECT_FALSE(data.buckets[0].exemplar);
  ASSERT_TRUE(data.buckets[1].exemplar);
  EXPECT_EQ(data.buckets[1].exemplar->labels, "device=\"b\"");
  EXPECT_EQ(data.buckets[1].exemplar->value, 0.003);
  EXPECT_GT(data.buckets[1].exemplar->timestamp, 1e9);
  EXPECT_FALSE(data.buckets[2].exemplar);
}

TEST(Histogram, IsConsistentWhileOthersObserve) {
  Histogram histogram(kBounds);
  const auto observe = [&] {
    for (int i = 0; i < 10'000; ++i) histogram.observe(0.5);
  };
  std::thread one(observe);
  std::thread two(observe);
  for (int i = 0; i < 100; ++i) {
    const HistogramData data = histogram.data();
    const auto native = unpack(data.native);
    EXPECT_EQ(data.sum, static_cast<double>(data.count()) * 0.5);
    EXPECT_EQ(native.empty() ? 0 : native.begin()->second, static_cast<std::int64_t>(data.count()));
  }
  one.join();
  two.join();
  EXPECT_EQ(histogram.data().count(), 20'000U);
}

}  // namespace
}  // namespace rdma_exporter::core
