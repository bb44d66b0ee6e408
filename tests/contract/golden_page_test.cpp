// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Contract: the page of a recorded host, byte for byte: the output of --once without the exporter's own
// metrics. A change of it is visible to users. scripts/regenerate updates the files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/exposition/page_writer.h"
#include "tests/contract/page.h"

namespace rdma_exporter::test {
namespace {

std::string render(const std::string& sysfs_root) {
  TreeHost host(sysfs_root);
  std::vector<const core::SampleBatch*> batches;
  for (const auto& run : host.collect()) batches.push_back(&run->samples());
  std::string page;
  const auto families = collector_families();
  core::write_text(families, batches, page);
  return page;
}

TEST(GoldenPage, OfEveryRecording) {
  std::size_t recordings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SOURCE_DIR "/tests/recordings")) {
    ++recordings;
    const std::string name = entry.path().filename();
    const std::string golden = SOURCE_DIR "/tests/contract/golden/" + name + ".prom";
    const std::string page = render(entry.path() / "sys");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(golden, std::ios::binary) << page;
    std::ifstream file(golden, std::ios::binary);
    ASSERT_TRUE(file.good()) << golden;
    const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(page, expected)
        << name << ": if this is meant, run scripts/regenerate and look at git diff tests/contract/golden";
  }
  EXPECT_GT(recordings, 0U);
}

}  // namespace
}  // namespace rdma_exporter::test
