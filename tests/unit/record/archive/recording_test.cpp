// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/recording.h"

#include <gtest/gtest.h>

#include "record/archive/archive.h"
#include "record/archive/limits.h"
#include "tests/unit/support/record_fixture.h"

namespace rdma_exporter::record {
namespace {

const std::vector<Snapshot> kSnapshots{{{"a", {{"1"}}}, {"b", {{"1"}}}},
                                       {{"a", {{"2"}}}, {"b", {{"1"}}}, {"c", {{}, "EIO"}}},
                                       {{"b", {{"1"}}}, {"c", {{"3"}}}}};

// The archive with one member changed by `change`.
template <typename Change>
std::string altered(Change&& change) {
  Members members = *read_archive(archive_of(kSnapshots));
  change(members);
  return write_archive(members, 0);
}

std::string problem(const std::string& archive) {
  const auto recording = Recording::read(archive, "x.tar.gz");
  return recording ? "accepted" : recording.error().context.text();
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  return text.replace(text.find(what), what.size(), by);
}

TEST(Recording, AnswersAsInEachSnapshot) {
  const auto recording = recording_of(kSnapshots);
  ASSERT_TRUE(recording) << recording.error().context.text();
  ASSERT_EQ(recording->snapshots(), 3U);
  for (std::size_t i = 0; i < kSnapshots.size(); ++i) {
    for (const char* question : {"a", "b", "c", "d"}) {
      const auto expected = kSnapshots[i].find(question);
      const Answer* answer = recording->find(question, i);
      ASSERT_EQ(answer != nullptr, expected != kSnapshots[i].end()) << question << i;
      if (answer != nullptr) {
        EXPECT_EQ(*answer, expected->second) << question << i;
      }
    }
  }
  EXPECT_TRUE(recording->asked("c"));
  EXPECT_FALSE(recording->asked("d"));
}

TEST(Recording, SaysWhereItComesFrom) {
  const Manifest manifest = recording_of(kSnapshots)->manifest();
  EXPECT_EQ(manifest.tool_version, "1.2.3");
  EXPECT_EQ(manifest.kernel.release, "6.1.0-56-amd64");
  ASSERT_EQ(manifest.devices.size(), 1U);
  EXPECT_EQ(manifest.devices[0].firmware, "28.39.1002");
  EXPECT_EQ(utc(manifest.snapshots[1].time), "2023-11-14T22:13:30Z");
  EXPECT_FALSE(manifest.anonymized);
}

TEST(Recording, RefusesMembersThatWereChanged) {
  EXPECT_EQ(problem(altered([](Members& members) { members["snapshots/0001"] += "d\t=\t1\n"; })),
            "x.tar.gz has a modified member: snapshots/0001");
  EXPECT_EQ(problem(altered([](Members& members) { members.erase("snapshots/0002"); })),
            "x.tar.gz lacks the member snapshots/0002");
  EXPECT_EQ(problem(altered([](Members& members) { members.erase("manifest.json"); })),
            "x.tar.gz is not a recording: it has no manifest");
}

TEST(Recording, RefusesManifestsItDoesNotUnderstand) {
  const auto with_manifest = [](auto&& change) {
    return problem(
        altered([&](Members& members) { members["manifest.json"] = change(members["manifest.json"]); }));
  };
  EXPECT_EQ(with_manifest([](auto text) { return replaced(text, "\"format\": 1", "\"format\": 2"); }),
            "x.tar.gz has format 2, but this program reads formats up to 1: use a newer version");
  EXPECT_EQ(with_manifest([](auto text) { return replaced(text, "snapshots/0001", "manifest.json"); }),
            "x.tar.gz has a manifest with a snapshot with an unexpected name");
  EXPECT_EQ(with_manifest([](auto text) { return replaced(text, "1700000010000", "1"); }),
            "x.tar.gz has a manifest with snapshots out of order");
  EXPECT_EQ(with_manifest([](auto text) { return text.substr(0, text.size() / 2); }),
            "x.tar.gz has a damaged manifest");
  EXPECT_EQ(with_manifest([](auto text) { return replaced(text, "\"format\": 1", "\"format\": \"1\""); }),
            "x.tar.gz has a damaged manifest");
  EXPECT_EQ(with_manifest([](auto) { return R"({"format": 1, "kernel": {}, "snapshots": []})"; }),
            "x.tar.gz has a manifest with no snapshot");
  // What later versions add is no reason to refuse.
  EXPECT_EQ(
      with_manifest([](auto text) { return replaced(text, "\"format\": 1", "\"format\": 1, \"more\": []"); }),
      "accepted");
}

TEST(Recording, NamesTheFileThatCannotBeRead) {
  EXPECT_EQ(Recording::load("/does/not/exist").error().context.text(),
            "/does/not/exist: No such file or directory");
  EXPECT_FALSE(Recording::load("/proc").has_value());
}

}  // namespace
}  // namespace rdma_exporter::record
