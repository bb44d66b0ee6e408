// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <algorithm>
#include <cerrno>
#include <deque>
#include <set>

#include "collectors/link/neighbor_table.h"
#include "tests/unit/collectors/collector_fixture.h"
#include "tests/unit/support/lldp_frame.h"

namespace rdma_exporter::collectors {

extern const CollectorSpec neighbor_spec;

namespace {

using namespace std::chrono_literals;
using test::leaf_frame;

// What came in on the wire since the last time.
struct Wire {
  struct Arrived {
    std::uint32_t interface;
    std::vector<std::byte> bytes;
    std::chrono::milliseconds age;
  };
  std::deque<Arrived> frames;
  std::set<std::uint32_t> listening;
};

class ScriptedFrames : public host::LldpFrames {
 public:
  explicit ScriptedFrames(Wire& wire) : wire_(wire) {}
  core::Result<void> receive(const OnFrame& on_frame) override {
    for (; !wire_.frames.empty(); wire_.frames.pop_front()) {
      const Wire::Arrived& frame = wire_.frames.front();
      on_frame({frame.interface, frame.age, frame.bytes});
    }
    return {};
  }
  core::Result<void> listen_on(std::uint32_t interface) override {
    wire_.listening.insert(interface);
    return {};
  }

 private:
  Wire& wire_;
};

class NeighborTest : public CollectorFixture {
 protected:
  NeighborTest() : CollectorFixture(neighbor_spec) {
    host_.open_lldp_frames = [this]() -> core::Result<std::unique_ptr<host::LldpFrames>> {
      ++opened_;
      if (refusal_ != 0) return core::os_error(refusal_);
      return std::make_unique<ScriptedFrames>(wire_);
    };
    add_interface("d0", "eth0", 7);
  }

  void add_interface(const std::string& device, const std::string& netdev, int index) const {
    add_port(device);
    tree_.write(device_path(device) + "parent", netdev + "\n");
    tree_.write("class/net/" + netdev + "/ifindex", std::to_string(index) + "\n");
  }
  void arrive(std::uint32_t interface, const test::LldpFrame& frame, std::chrono::seconds age = 0s) {
    wire_.frames.push_back({interface, frame.bytes(), age});
  }
  static std::string info(const std::string& port,
                          const std::string& netdev = R"(device="d0",port="1",netdev="eth0")") {
    return "rdma_netdev_neighbor_info{" + netdev + R"(,chassis_id="44:38:39:00:00:12",port_id=")" + port +
           R"(",port_description="to gpu-17 mlx5_0",system_name="leaf-a12",management_address="10.0.0.12"})";
  }
  static std::string of(const std::string& family, const std::string& more = "") {
    return "rdma_netdev_neighbor" + family + R"({device="d0",port="1",netdev="eth0")" +
           (more.empty() ? "" : ",") + more + "}";
  }

  Wire wire_;
  int refusal_ = 0;
  int opened_ = 0;
};

TEST_F(NeighborTest, NamesTheSwitchPortBehindEachInterface) {
  add_interface("d1", "eth1", 8);
  collect();
  EXPECT_EQ(wire_.listening, (std::set<std::uint32_t>{7, 8}));
  arrive(7, leaf_frame("Ethernet1/7"));
  arrive(8, leaf_frame("Ethernet1/8"));
  const Page page = collect();
  EXPECT_EQ(page.at(info("Ethernet1/7")), 1);
  EXPECT_EQ(page.at(info("Ethernet1/8", R"(device="d1",port="1",netdev="eth1")")), 1);
  EXPECT_EQ(page.at(of("s")), 1);
  EXPECT_EQ(page.at(of("_frames_total", R"(result="ok")")), 1);
  EXPECT_EQ(opened_, 1) << "one socket for all";
}

TEST_F(NeighborTest, SaysThatNobodySpeaks) {
  const Page page = collect();
  EXPECT_EQ(page.at(of("s")), 0);
  EXPECT_EQ(page.at(of("_frames_total", R"(result="ok")")), 0);
  EXPECT_EQ(page.size(), 3U);
}

TEST_F(NeighborTest, ANeighborThatFallsSilentIsGoneWithItsTime) {
  collect();
  arrive(7, leaf_frame("p", 120), 20s);
  EXPECT_NEAR(collect().at(of("_age_seconds", R"(chassis_id="44:38:39:00:00:12",port_id="p")")), 20, 1);
  pass(90s);
  EXPECT_TRUE(collect().contains(info("p")));
  pass(15s);
  EXPECT_FALSE(collect().contains(info("p")));
}

TEST_F(NeighborTest, AnotherPortTakesThePlaceOfOneThatSaysGoodbye) {
  collect();
  arrive(7, leaf_frame("p"));
  collect();
  arrive(7, leaf_frame("p", 0));
  arrive(7, leaf_frame("q"));
  const Page page = collect();
  EXPECT_FALSE(page.contains(info("p")));
  EXPECT_TRUE(page.contains(info("q")));
}

TEST_F(NeighborTest, CountsMalformedFramesAndServesTheRest) {
  collect();
  arrive(7, test::LldpFrame().end());
  arrive(7, leaf_frame("p"));
  const Page page = collect();
  EXPECT_EQ(page.at(of("_frames_total", R"(result="malformed")")), 1);
  EXPECT_TRUE(page.contains(info("p")));
  EXPECT_TRUE(errors_.empty()) << "what others send is no error of this host";
}

TEST_F(NeighborTest, AFloodOfNeighborsIsBoundedAndCounted) {
  collect();
  for (int i = 0; i < 40; ++i) arrive(7, leaf_frame("p" + std::to_string(i)));
  EXPECT_EQ(collect().at(of("s")), 32);
  EXPECT_EQ(dropped_["neighbors"], 8U);
  collect();
  EXPECT_TRUE(dropped_.empty()) << "once";
}

TEST_F(NeighborTest, IgnoresInterfacesThatCarryNoRdma) {
  collect();
  arrive(99, leaf_frame("p"));
  EXPECT_EQ(collect().at(of("s")), 0);
}

TEST_F(NeighborTest, WithoutTheRightItIsSilentAndTriesAgain) {
  for (const int refusal : {EPERM, EAFNOSUPPORT}) {
    refusal_ = refusal;
    EXPECT_TRUE(collect().empty());
    EXPECT_TRUE(errors_.empty());
    pass(301s);
  }
  refusal_ = 0;
  collect();
  EXPECT_EQ(opened_, 3);
  EXPECT_EQ(wire_.listening.size(), 1U);
}

TEST_F(NeighborTest, OpensNothingOnATreeOfFiles) {
  host_.open_lldp_frames = nullptr;
  EXPECT_TRUE(collect().empty());
}

}  // namespace
}  // namespace rdma_exporter::collectors
