// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/page_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/exposition/text_formats.h"

namespace rdma_exporter::core {
namespace {

constexpr MetricDesc kA{"rdma_a", MetricType::gauge, "", "", "A", "x"};
constexpr MetricDesc kB{"rdma_b", MetricType::gauge, "", "", "B", "x"};
constexpr MetricDesc kC{"rdma_c", MetricType::gauge, "", "", "C", "x"};
constexpr std::array kFamilies{&kA, &kB, &kC};

TEST(PageWriter, LeavesOutWholeFamiliesThatDoNotFitAndGoesOn) {
  SampleBatch batch;
  batch.add(kA, {}, std::uint64_t{1});
  for (int i = 0; i < 10; ++i) batch.add(kB, "i=\"" + std::to_string(i) + "\"", std::uint64_t{1});
  batch.add(kC, {}, std::uint64_t{1});
  const SampleBatch* const batches[] = {&batch};
  TextFormat format;
  PageWriter writer(kFamilies);
  std::string out;
  EXPECT_EQ(writer.write(batches, format, out, 100), 10U);
  EXPECT_EQ(
      out,
      "# HELP rdma_a A\n# TYPE rdma_a gauge\nrdma_a 1\n# HELP rdma_c C\n# TYPE rdma_c gauge\nrdma_c 1\n");
  out.clear();
  EXPECT_EQ(writer.write(batches, format, out), 0U);
  EXPECT_NE(out.find("rdma_b"), std::string::npos);
}

TEST(PageWriter, AppendsToWhatIsThereAndCountsItForTheLimit) {
  SampleBatch batch;
  batch.add(kA, {}, std::uint64_t{1});
  const SampleBatch* const batches[] = {&batch};
  TextFormat format;
  PageWriter writer(kFamilies);
  std::string out(90, '#');
  EXPECT_EQ(writer.write(batches, format, out, 100), 1U);
  EXPECT_EQ(out, std::string(90, '#'));
}

// What is remembered of a page must not show in the next one: each is what a new writer makes.
TEST(PageWriter, WritesPagesThatDifferFromTheOneBefore) {
  constexpr MetricDesc kStranger{"rdma_d", MetricType::gauge, "", "", "D", "x"};
  const std::vector<std::vector<const MetricDesc*>> pages{
      {&kA, &kB, &kC, &kA}, {&kC, &kA}, {}, {&kA, &kB, &kC, &kA, &kB}, {&kStranger, &kB}, {&kB, &kStranger}};
  TextFormat format;
  PageWriter writer(kFamilies);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 2 * pages.size(); ++i) {  // each one is followed by one with other values
    SampleBatch batch;
    for (const MetricDesc* metric : pages[i / 2]) batch.add(*metric, {}, ++value);
    const SampleBatch* const batches[] = {&batch};
    std::string out;
    writer.write(batches, format, out);
    std::string expected;
    write_text(kFamilies, batches, expected);
    EXPECT_EQ(out, expected);
  }
}

// Between known ones, which keep their order and get no sample of theirs.
TEST(PageWriter, LeavesOutUnknownFamiliesOfEachPage) {
  constexpr MetricDesc kStranger{"rdma_d", MetricType::gauge, "", "", "D", "x"};
  constexpr MetricDesc kOther{"rdma_e", MetricType::gauge, "", "", "E", "x"};
  TextFormat format;
  PageWriter writer(kFamilies);
  // Unchanged, then with another unknown family, then with a known one in its place.
  for (const MetricDesc* metric : {&kStranger, &kStranger, &kOther, &kC, &kStranger}) {
    SampleBatch batch;
    batch.add(kB, {}, std::uint64_t{1});
    batch.add(*metric, {}, std::uint64_t{2});
    batch.add(kA, {}, std::uint64_t{3});
    batch.add(kB, "x=\"y\"", std::uint64_t{4});
    const SampleBatch* const batches[] = {&batch};
    std::string out;
    EXPECT_EQ(writer.write(batches, format, out), 0U);
    std::string expected =
        "# HELP rdma_a A\n# TYPE rdma_a gauge\nrdma_a 3\n"
        "# HELP rdma_b B\n# TYPE rdma_b gauge\nrdma_b 1\nrdma_b{x=\"y\"} 4\n";
    if (metric == &kC) expected += "# HELP rdma_c C\n# TYPE rdma_c gauge\nrdma_c 2\n";
    EXPECT_EQ(out, expected);
  }
}

// The samples of one batch may move to another without a change of the page.
TEST(PageWriter, LooksAtAllBatchesAsOne) {
  TextFormat format;
  PageWriter writer(kFamilies);
  for (const std::size_t in_first : {2U, 2U, 0U, 3U, 1U}) {
    SampleBatch first;
    SampleBatch second;
    std::uint64_t value = 0;
    for (const MetricDesc* metric : {&kB, &kA, &kB}) {
      (value < in_first ? first : second).add(*metric, {}, value);
      ++value;
    }
    const SampleBatch* const batches[] = {&first, &second};
    std::string out;
    writer.write(batches, format, out);
    EXPECT_EQ(out,
              "# HELP rdma_a A\n# TYPE rdma_a gauge\nrdma_a 1\n"
              "# HELP rdma_b B\n# TYPE rdma_b gauge\nrdma_b 0\nrdma_b 2\n");
  }
}

TEST(PageWriter, HasANumberForEachFamilyOrFails) {
  std::vector<MetricDesc> many(UINT16_MAX, kA);
  std::vector<const MetricDesc*> families;
  for (const MetricDesc& metric : many) families.push_back(&metric);
  SampleBatch batch;
  batch.add(many.back(), {}, std::uint64_t{1});
  batch.add(kB, {}, std::uint64_t{2});
  const SampleBatch* const batches[] = {&batch};
  std::string out;
  write_text(families, batches, out);
  EXPECT_EQ(out, "# HELP rdma_a A\n# TYPE rdma_a gauge\nrdma_a 1\n");
  families.push_back(&kB);
  EXPECT_THROW(PageWriter{families}, std::length_error);
}

// Longer together than the buffer in which lines are made, and one alone longer than that.
TEST(PageWriter, WritesLinesOfAnyLength) {
  SampleBatch batch;
  std::string expected = "# HELP rdma_a A\n# TYPE rdma_a gauge\n";
  for (const std::size_t length : {1U, 4000U, 4000U, 300U, 8100U, 8192U, 20'000U, 1U}) {
    const std::string labels = "x=\"" + std::string(length, 'y') + "\"";
    batch.add(kA, labels, std::uint64_t{length});
    expected += "rdma_a{" + labels + "} " + std::to_string(length) + "\n";
  }
  const SampleBatch* const batches[] = {&batch};
  std::string out;
  write_text(kFamilies, batches, out);
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace rdma_exporter::core
