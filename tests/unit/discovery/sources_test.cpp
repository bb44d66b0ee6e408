// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/sources.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "discovery/source.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::discovery {
namespace {

using namespace std::chrono_literals;

class TargetSources : public testing::Test {
 protected:
  TargetSources() { options.refresh = 3600s; }  // what happens earlier is not the clock's doing
  ~TargetSources() override {
    sources.stop();
    while (!sources.idle()) std::this_thread::sleep_for(1ms);
  }

  // Waits until the first source satisfies, for as long as the test's own timeout allows.
  template <typename Condition>
  SourceStatus wait_for(Condition condition) {
    for (;;) {
      const auto all = sources.status();
      if (!all.empty() && condition(all.front())) return sources.status().front();
      std::this_thread::sleep_for(1ms);
    }
  }
  bool has(const std::string& host) const {
    const TargetList targets = sources.targets();
    return targets.size() == 1 && targets[0].targets.front().host == host;
  }
  SourceStatus wait_for_host(const std::string& host) {
    return wait_for([&](const SourceStatus& /*status*/) { return has(host); });
  }

  test::TempTree tree;
  SourceOptions options;
  std::atomic<unsigned> changes{0};
  Sources sources{[this] { ++changes; }};
};

TEST_F(TargetSources, FollowAFileWithoutWaitingForTheClock) {
  tree.write("a.json", R"([{"targets": ["a"]}])");
  options.files = {tree.path("*.json")};
  sources.configure(options);
  const auto first = wait_for_host("a");
  EXPECT_EQ(first.kind, "file_sd");
  EXPECT_GT(first.last_success, 1.5e9);
  EXPECT_EQ(first.targets, 1U);
  EXPECT_GE(changes, 1U);
  tree.write("a.json", R"([{"targets": ["b"]}])");
  wait_for_host("b");
  tree.write("a.json", "[");
  const auto bad = wait_for([](const SourceStatus& status) { return status.failing; });
  EXPECT_GE(bad.failures.at("parse"), 1U);
  EXPECT_TRUE(has("b")) << "what was known stands";
}

TEST_F(TargetSources, ThatNeverWorkedHaveNoTimeOfSuccess) {
  tree.write("a.json", "[");
  options.files = {tree.path("a.json")};
  sources.configure(options);
  EXPECT_EQ(wait_for([](const SourceStatus& status) { return status.failing; }).last_success, 0);
}

TEST_F(TargetSources, ThatStayGoOnWhenOthersChange) {
  tree.write("a.json", R"([{"targets": ["a"]}])");
  options.files = {tree.path("a.json")};
  sources.configure(options);
  const auto before = wait_for_host("a");
  options.files.push_back(tree.path("b.json"));
  sources.configure(options);
  EXPECT_EQ(sources.status().size(), 2U);
  EXPECT_EQ(sources.status().front().last_success, before.last_success) << "not read again";
  options.refresh = 1800s;
  sources.configure(options);
  EXPECT_TRUE(has("a")) << "read again, and its targets stay meanwhile";
  options.files = {tree.path("b.json")};
  sources.configure(options);
  EXPECT_TRUE(sources.targets().empty()) << "gone at once";
}

TEST_F(TargetSources, ThatAreReadAnewKeepTheirTargetsUntilThen) {
  tree.write("lists/a.json", R"([{"targets": ["a"]}])");
  options.files = {tree.path("lists/*.json")};
  sources.configure(options);
  wait_for_host("a");
  // At once: a folder without files would be a list without targets.
  std::filesystem::rename(tree.path("lists"), tree.path("old"));
  tree.link("lists", "lists");  // leads to itself: cannot be read
  options.refresh = 1800s;
  sources.configure(options);
  wait_for([](const SourceStatus& status) { return status.failing; });
  EXPECT_TRUE(has("a"));
}

TEST_F(TargetSources, EndWhenTheyAreStopped) {
  options.files = {tree.path("a.json")};
  options.names = {"localhost"};
  sources.configure(options);
  sources.stop();
  EXPECT_TRUE(sources.status().empty());
  while (!sources.idle()) std::this_thread::sleep_for(1ms);
}

TEST(TargetSourceOptions, HaveNamesAndUrlsThatAreSome) {
  const auto good = [](auto set) {
    SourceOptions options;
    set(options);
    return check(options).has_value();
  };
  EXPECT_TRUE(good([](auto& o) { o.names = {"probe.monitoring.svc:9401"}; }));
  EXPECT_FALSE(good([](auto& o) { o.names = {"a b"}; }));
  EXPECT_TRUE(good([](auto& o) { o.urls = {"http://cmdb/probe"}; }));
  EXPECT_FALSE(good([](auto& o) { o.urls = {"cmdb/probe"}; }));
  EXPECT_TRUE(good([](auto& o) { o.files = {"/etc/x/*.json", "a.json"}; }));
  EXPECT_FALSE(good([](auto& o) { o.files = {"/etc/*/a.json"}; }));
}

TEST(TargetNames, StandForAllTheirAddresses) {
  DnsSource source(Address{"127.0.0.1", 9401});
  EXPECT_EQ(source.read().targets, (TargetList{{{{"127.0.0.1", 9401}}, {}}}));
  const auto local = resolve("localhost");
  ASSERT_TRUE(local);
  EXPECT_FALSE(local->empty());
}

TEST(TargetNames, OfBothFamiliesAreProbedOverIpv4) {
  const auto both = group_of({"192.0.2.1", "192.0.2.2", "2001:db8::1"}, 9401);
  EXPECT_EQ(both.targets, (std::vector<Address>{{"192.0.2.1", 9401}, {"192.0.2.2", 9401}}))
      << "each host once";
  EXPECT_EQ(group_of({"2001:db8::1"}, 1).targets, (std::vector<Address>{{"2001:db8::1", 1}}));
}

TEST(TargetNames, ThatAreNotKnownRemoveNothing) {
  DnsSource source(Address{"fe80::1%no-such-interface", 0});  // no name server is asked
  const Reading reading = source.read();
  EXPECT_FALSE(reading.targets);
  EXPECT_EQ(reading.problems.size(), 1U);
}

}  // namespace
}  // namespace rdma_exporter::discovery
