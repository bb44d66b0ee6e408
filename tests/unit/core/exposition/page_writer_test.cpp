// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/page_writer.h"

#include <gtest/gtest.h>

#include <array>

#include "core/exposition/text_format.h"

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

}  // namespace
}  // namespace rdma_exporter::core
