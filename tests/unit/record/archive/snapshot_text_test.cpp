// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/snapshot_text.h"

#include <gtest/gtest.h>

namespace rdma_exporter::record {
namespace {

using Lines = std::vector<std::pair<std::string, std::optional<Answer>>>;

core::Result<Lines> lines(std::string_view text) {
  Lines all;
  auto done = read_difference(
      text, [&](std::string question, std::optional<Answer> answer) { all.emplace_back(question, answer); });
  if (!done) return tl::unexpected(done.error());
  return all;
}

TEST(SnapshotText, GivesBackWhateverBytesThereAre) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const Snapshot snapshot{{"a\tb\nc\\", {{"x\ty\n\\", "", "\x7F"}}},
                          {"binary", {{every_byte, ""}}},
                          {"empty list", {}},
                          {"empty text", {{""}}},
                          {"error", {{every_byte}, "EINVAL"}},
                          {"error without parts", {{}, "too_long"}}};
  const std::string text = write_difference({}, snapshot);
  const auto read = lines(text);
  ASSERT_TRUE(read) << core::to_string(read.error()) << text;
  Snapshot again;
  for (const auto& [question, answer] : *read) again.emplace(question, answer.value());
  EXPECT_EQ(again, snapshot) << text;
}

TEST(SnapshotText, HoldsOnlyWhatIsDifferent) {
  const Snapshot before{{"gone", {{"1"}}}, {"other", {{"2"}}}, {"same", {{"3"}}}};
  const Snapshot after{{"new", {{"5"}}}, {"other", {{}, "EIO"}}, {"same", {{"3"}}}};
  EXPECT_EQ(write_difference(before, after), "gone\t-\nnew\t=\t5\nother\t!\tEIO\n");
}

TEST(SnapshotText, NamesTheLineThatIsWrong) {
  for (const char* bad : {"q", "q\t=", "q\n", "\t=\tx\n", "q\t?\tx\n", "q\t=\t\\\n", "q\t=\t\\xZZ\n",
                          "q\t#\tabc\n", "q\t#\tZZ\n", "q\t!\n", "q\t!\t\n", "q\t-\tx\n"}) {
    const auto read = lines("good\t=\t1\n" + std::string(bad));
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().kind, core::Errc::parse);
    EXPECT_EQ(read.error().context.text(), "line 2") << bad;
  }
}

TEST(SnapshotText, KeepsErrorsAsTheyAre) {
  for (const int number : {1, 2, 5, 19, 22, 34, 71, 95, 110, 133, 517, 524, 531})
    EXPECT_TRUE(core::is_errno(error_of_word(error_word(core::os_error(number).value())), number)) << number;
  EXPECT_EQ(error_of_word(error_word(core::too_long_error().value())).kind, core::Errc::too_long);
  EXPECT_EQ(error_of_word(error_word(core::parse_error().value())).kind, core::Errc::parse);
}

}  // namespace
}  // namespace rdma_exporter::record
