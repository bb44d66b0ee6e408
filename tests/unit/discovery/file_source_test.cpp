// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/source.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <set>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::discovery {
namespace {

std::string list_of(const std::string& host) { return "[{\"targets\": [\"" + host + "\"]}]"; }

class TargetFiles : public testing::Test {
 protected:
  // Hosts that a look at the files brings.
  std::set<std::string> hosts(FileSource& source) {
    last = source.read();
    std::set<std::string> all;
    for (const TargetGroup& group : last.targets.value())
      for (const Address& target : group.targets) all.insert(target.host);
    return all;
  }
  static bool changed(const FileSource& source) {
    pollfd fd{source.change_fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) == 1;
  }
  using Hosts = std::set<std::string>;

  test::TempTree tree;
  Reading last;
};

TEST_F(TargetFiles, AreThoseThatMatch) {
  tree.write("a.json", list_of("a"));
  tree.write("b.json", list_of("b"));
  tree.write("c.txt", "no list");
  FileSource source(tree.path("*.json"));
  EXPECT_EQ(hosts(source), (Hosts{"a", "b"}));
  EXPECT_TRUE(last.problems.empty());
}

TEST_F(TargetFiles, StayWhileTheirDirectoryCannotBeRead) {
  tree.write("lists/a.json", list_of("a"));
  FileSource source(tree.path("lists/*.json"));
  EXPECT_EQ(hosts(source), (Hosts{"a"}));
  tree.remove("lists");
  tree.link("lists", "lists");  // leads to itself, which root cannot read either
  const Reading reading = source.read();
  EXPECT_FALSE(reading.targets) << "nothing new is known";
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_EQ(reading.problems[0].os_errno, ELOOP);
  tree.remove("lists");
  tree.mkdir("lists");
  EXPECT_EQ(hosts(source), (Hosts{})) << "a directory without lists is an answer";
}

TEST_F(TargetFiles, KeepTheirTargetsWhileTheyAreBad) {
  tree.write("a.json", list_of("a"));
  tree.write("b.json", list_of("b"));
  FileSource source(tree.path("*.json"));
  hosts(source);
  tree.write("a.json", "[{\"targets\": [\"a\"");
  tree.write("b.json", list_of("b2"));
  EXPECT_EQ(hosts(source), (Hosts{"a", "b2"})) << "the others are not held up";
  ASSERT_EQ(last.problems.size(), 1U);
  EXPECT_NE(core::to_string(last.problems[0]).find("a.json"), std::string::npos);
  tree.write("a.json", list_of("a2"));
  EXPECT_EQ(hosts(source), (Hosts{"a2", "b2"}));
  EXPECT_TRUE(last.problems.empty());
}

TEST_F(TargetFiles, TakeTheirTargetsAlong) {
  tree.write("a.json", list_of("a"));
  FileSource source(tree.path("*.json"));
  hosts(source);
  tree.remove("a.json");
  EXPECT_EQ(hosts(source), Hosts{});
  EXPECT_TRUE(last.problems.empty());
}

TEST_F(TargetFiles, ThatAreNoneAreNotWaitedFor) {
  ASSERT_EQ(::mkfifo(tree.path("a.json").c_str(), 0600), 0);
  tree.mkdir("b.json");
  FileSource source(tree.path("*.json"));
  EXPECT_EQ(hosts(source), Hosts{});
  EXPECT_EQ(last.problems.size(), 2U);
}

TEST_F(TargetFiles, AreBounded) {
  tree.write("a.json", std::string(kMaxListBytes + 1, ' '));
  FileSource source(tree.path("a.json"));
  hosts(source);
  ASSERT_EQ(last.problems.size(), 1U);
  EXPECT_EQ(last.problems[0].kind, core::Errc::too_long);
}

TEST_F(TargetFiles, TellWhenTheyAreWrittenReplacedOrTurned) {
  tree.write("v1/list", list_of("a"));
  tree.write("v2/list", list_of("b"));
  tree.link("v1/list", "a.json");
  FileSource source(tree.path("*.json"));
  EXPECT_EQ(hosts(source), Hosts{"a"});
  EXPECT_FALSE(changed(source));
  tree.link("v2/list", "new");
  hosts(source);
  std::filesystem::rename(tree.path("new"), tree.path("a.json"));
  EXPECT_TRUE(changed(source)) << "a link that is turned";
  EXPECT_EQ(hosts(source), Hosts{"b"});
  EXPECT_FALSE(changed(source)) << "said once";
  tree.write("c.json", list_of("c"));
  EXPECT_TRUE(changed(source));
  EXPECT_EQ(hosts(source), (Hosts{"b", "c"}));
  tree.remove("c.json");
  EXPECT_TRUE(changed(source));
  hosts(source);
  std::filesystem::rename(tree.path("v1/list"), tree.path("d.json"));
  EXPECT_TRUE(changed(source)) << "one that was written elsewhere";
}

TEST_F(TargetFiles, MayComeWithTheirDirectoryLater) {
  FileSource source(tree.path("later/a.json"));
  EXPECT_EQ(hosts(source), Hosts{});
  tree.write("later/a.json", list_of("a"));
  EXPECT_EQ(hosts(source), Hosts{"a"});
  tree.write("later/a.json", list_of("b"));
  EXPECT_TRUE(changed(source)) << "watched from then on";
}

}  // namespace
}  // namespace rdma_exporter::discovery
