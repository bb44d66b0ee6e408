// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A recorded host answers like the live one, seam by seam: values, errors, and questions that were never
// asked.
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cstring>

#include "host/ethtool/genl_ethtool.h"
#include "record/player.h"
#include "record/question.h"
#include "record/recording_host.h"
#include "record/replaying_host.h"
#include "tests/unit/support/record_fixture.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::record {
namespace {

// Answers of ethtool and verbs that can be told from others.
class FakeEthtool : public host::Ethtool {
 public:
  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    if (netdev == "gone") return core::os_error(ENODEV);
    buffer.back() = std::byte{7};
    return {};
  }
};

class FakeVerbs : public host::Verbs {
 public:
  core::Result<host::PortMtu> port_mtu(const std::string& device, std::uint32_t port) override {
    if (device == "gone") return core::os_error(EACCES, "/dev/infiniband/uverbs0");
    return host::PortMtu{1024, 4096 + port};
  }
  core::Result<host::DeviceLimits> device_limits(const std::string&) override {
    return host::DeviceLimits{1, 2, 3, 4, 5};
  }
  core::Result<std::unique_ptr<host::AsyncEvents>> async_events(const std::string&) override {
    return core::os_error(ENODEV);
  }
};

class RecordHost : public testing::Test {
 protected:
  RecordHost()
      : live_{.sysfs = host::make_host_fs(tree_.root()),
              .procfs = host::make_host_fs(tree_.root() + "/proc"),
              .make_netlink = [this](host::NetlinkProtocol) -> std::unique_ptr<host::Netlink> {
                return std::make_unique<test::ScriptedNetlink>(script_);
              },
              .ethtool = std::make_unique<FakeEthtool>(),
              .verbs = std::make_unique<FakeVerbs>()} {}

  // Does `use` on the recorded host and then on the replayed one.
  template <typename Use>
  void both(Use&& use) {
    Tape tape;
    {
      host::Host recorded = recording_host(live_, tape);
      use(recorded);
    }
    host::Host replayed =
        replaying_host(std::make_shared<Player>(*recording_of({tape.take()}), Player::Clock::now()), 10);
    use(replayed);
  }

  test::TempTree tree_;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  host::Host live_;
};

TEST_F(RecordHost, FilesAreTheSame) {
  tree_.write("dir/file", "value\n");
  tree_.write("dir/long", std::string(100, 'x'));
  tree_.link("file", "dir/link");
  both([](host::Host& host) {
    host::HostFs& fs = *host.sysfs;
    EXPECT_EQ(*fs.list("dir"), (std::vector<std::string>{"file", "link", "long"}));
    EXPECT_EQ(*fs.read("dir/file"), "value");
    EXPECT_EQ(*fs.read_link("dir/link"), "file");
    EXPECT_EQ(*fs.canonical("dir/link"), "dir/file");
    EXPECT_TRUE(fs.stat("dir")->directory);
    EXPECT_FALSE(fs.stat("dir/file")->directory);
    EXPECT_EQ(*(*fs.open_dir("dir"))->stat(), *fs.stat("dir"));
    EXPECT_TRUE(core::is_errno(fs.read("dir/none").error(), ENOENT));
    EXPECT_TRUE(core::is_errno(fs.read("dir").error(), EISDIR));
    EXPECT_TRUE(core::is_errno(fs.list("none").error(), ENOENT));
    EXPECT_TRUE(core::is_errno(fs.open_dir("none").error(), ENOENT));
    std::array<char, 50> small{};
    EXPECT_EQ((*fs.open("dir/long"))->read(small).error().kind, core::Errc::too_long);
    EXPECT_EQ(fs.read("dir/long")->size(), 100U);
    EXPECT_EQ((*fs.open("dir/long"))->read(small).error().kind, core::Errc::too_long);
  });
}

TEST_F(RecordHost, NetlinkIsTheSame) {
  script_->answers[7] = {test::Message(3, std::byte{1}), test::Message(5, std::byte{2})};
  script_->refusals[8] = EINVAL;
  both([](host::Host& host) {
    const auto netlink = host.make_netlink(host::NetlinkProtocol::generic);
    std::vector<std::size_t> sizes;
    const auto note = [&](host::Bytes message) { sizes.push_back(message.size()); };
    EXPECT_TRUE(netlink->request(7, 0, {}, note));
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 5}));
    EXPECT_TRUE(core::is_errno(netlink->request(8, 0, {}, note).error(), EINVAL));
    sizes.clear();
    const auto one = [&](host::Bytes message) {
      sizes.push_back(message.size());
      return false;
    };
    EXPECT_TRUE(netlink->dump(7, {}, one));
    EXPECT_EQ(sizes, std::vector<std::size_t>{3}) << "the rest was not wanted";
  });
}

// A capture asks for all groups of statistics; a replay of the lean set does not.
TEST_F(RecordHost, StatisticsOfSomeGroupsAreThoseOfAll) {
  using namespace host::genl_ethtool;
  script_->answers[22] = {test::recorded_file("ethernet/connectx/stats_get.bin")};
  const auto ask = [](host::Host& host, const std::vector<std::byte>& question) {
    std::size_t counters = 0;
    const auto parse = [&](host::Bytes answer) {
      return parse_statistics(answer, [&](std::size_t, std::uint64_t) { ++counters; });
    };
    const auto netlink = host.make_netlink(host::NetlinkProtocol::generic);
    const auto answered = host::ask<void>(*netlink, 22, question, parse);
    return answered ? static_cast<int>(counters) : -answered.error().os_errno;
  };
  bool live = true;
  both([&](host::Host& host) {
    const int all = ask(host, request(Query::statistics, "eth0"));
    EXPECT_GT(all, 0);
    if (!live) {
      EXPECT_EQ(ask(host, statistics_request("eth0", 2)), all);
      EXPECT_EQ(ask(host, statistics_request("eth1", 2)), -EOPNOTSUPP) << "nobody asked for eth1";
    }
    live = false;
  });
}

TEST_F(RecordHost, ADumpThatFailsInItsCourseIsTheSame) {
  script_->answers[7] = {test::Message(3, std::byte{1})};
  script_->refusals[7] = EINTR;
  both([](host::Host& host) {
    std::size_t parts = 0;
    const auto dumped = host.make_netlink(host::NetlinkProtocol::generic)->dump(7, {}, [&](host::Bytes) {
      ++parts;
      return true;
    });
    ASSERT_FALSE(dumped);
    EXPECT_TRUE(core::is_errno(dumped.error(), EINTR));
    EXPECT_EQ(parts, 1U);
  });
}

// A recording is only a file: it may hold an answer that is longer than the question has room for.
TEST_F(RecordHost, AnAnswerWithoutRoomIsAnError) {
  std::array<std::byte, 8> buffer{};
  const std::string question = ethtool_question("eth0", buffer);
  const Snapshot snapshot{{question, {{std::string(9, 'x')}}}};
  host::Host host =
      replaying_host(std::make_shared<Player>(*recording_of({snapshot}), Player::Clock::now()), 10);
  EXPECT_TRUE(core::is_errno(host.ethtool->execute("eth0", buffer).error(), EFAULT));
  EXPECT_EQ(buffer.front(), std::byte{0});
}

TEST_F(RecordHost, EthtoolAndVerbsAreTheSame) {
  both([](host::Host& host) {
    ethtool_stats header{};
    header.cmd = ETHTOOL_GSTATS;
    header.n_stats = 2;
    // What is behind the request is left over from the last answer: another time it is something else.
    for (const std::byte rest : {std::byte{0}, std::byte{9}}) {
      std::array<std::byte, sizeof header + 16> buffer{};
      buffer.fill(rest);
      std::memcpy(buffer.data(), &header, sizeof header);
      EXPECT_TRUE(host.ethtool->execute("eth0", buffer));
      EXPECT_EQ(buffer.back(), std::byte{7});
      EXPECT_TRUE(core::is_errno(host.ethtool->execute("gone", buffer).error(), ENODEV));
    }
    EXPECT_EQ(host.verbs->port_mtu("mlx5_0", 2)->max, 4098U);
    EXPECT_EQ(host.verbs->device_limits("mlx5_0")->srqs, 5U);
    EXPECT_TRUE(core::is_errno(host.verbs->port_mtu("gone", 1).error(), EACCES));
  });
}

TEST_F(RecordHost, DeviceFilesAreTheSame) {
  live_.device_nodes = [] {
    return std::vector<host::DeviceNode>{{"rdma_cm", true, true}, {"uverbs0", false, true}, {"uverbs1"}};
  };
  both([](host::Host& host) {
    const auto nodes = host.device_nodes();
    ASSERT_EQ(nodes->size(), 3U);
    EXPECT_EQ((*nodes)[0].name, "rdma_cm");
    EXPECT_TRUE((*nodes)[0].for_all && (*nodes)[0].for_group);
    EXPECT_EQ((*nodes)[1].name, "uverbs0");
    EXPECT_TRUE(!(*nodes)[1].for_all && (*nodes)[1].for_group);
    EXPECT_TRUE(!(*nodes)[2].for_all && !(*nodes)[2].for_group);
  });
  live_.device_nodes = [] { return core::Result<std::vector<host::DeviceNode>>(core::os_error(ENOENT)); };
  both([](host::Host& host) { EXPECT_TRUE(core::is_errno(host.device_nodes().error(), ENOENT)); });
}

TEST_F(RecordHost, WhatNobodyAskedIsNotThere) {
  const Snapshot snapshot{
      {"netlink rdma 1 0 ", {{"x"}}}, {"ethtool a 4 00000000", {}}, {"verbs mtu a 1", {{"x"}}}};
  host::Host host =
      replaying_host(std::make_shared<Player>(*recording_of({snapshot}), Player::Clock::now()), 10);
  EXPECT_TRUE(core::is_errno(host.sysfs->read("class/infiniband").error(), ENOENT));
  EXPECT_TRUE(core::is_errno(
      host.make_netlink(host::NetlinkProtocol::rdma)->request(2, 0, {}, [](host::Bytes) {}).error(),
      EOPNOTSUPP));
  std::array<std::byte, 8> buffer{};
  EXPECT_TRUE(core::is_errno(host.ethtool->execute("eth0", buffer).error(), EOPNOTSUPP));
  EXPECT_EQ(host.verbs->port_mtu("a", 1).error().kind, core::Errc::parse);
  host::Host nothing = replaying_host(
      std::make_shared<Player>(*recording_of({{{"sysfs list a", {}}}}), Player::Clock::now()), 10);
  EXPECT_EQ(nothing.make_netlink(host::NetlinkProtocol::rdma), nullptr);
  EXPECT_EQ(nothing.ethtool, nullptr);
  EXPECT_EQ(nothing.verbs, nullptr);
  EXPECT_EQ(nothing.device_nodes, nullptr);
}

TEST_F(RecordHost, NotesNoKeys) {
  const test::Message regions = test::recorded_message("res_mr_0.bin");
  script_->answers[7] = {regions};
  Tape tape;
  host::Host host = recording_host(live_, tape);
  std::size_t seen = 0;
  EXPECT_TRUE(host.make_netlink(host::NetlinkProtocol::rdma)->dump(7, {}, [&](host::Bytes message) {
    seen = message.size();
    return true;
  }));
  EXPECT_EQ(seen, regions.size()) << "who asks gets all of it";
  const Snapshot snapshot = tape.take();
  ASSERT_EQ(snapshot.size(), 1U);
  EXPECT_LT(snapshot.begin()->second.parts.front().size(), regions.size());
}

}  // namespace
}  // namespace rdma_exporter::record
