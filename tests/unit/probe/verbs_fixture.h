// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "probe/rdma/connection/qp_pair.h"
#include "probe/rdma/device_loop.h"
#include "tests/unit/probe/fake_verbs.h"

// Adapters that are none, with what the probe makes of them.
namespace rdma_exporter::probe {

using namespace std::chrono_literals;
using test::FakeFabric;
using test::FakeGid;
using test::FakePort;
using test::FakeQpRecord;

inline FakePort port_with(const std::string& address, ibv_mtu mtu = IBV_MTU_1024) {
  return {.mtu = mtu, .gids = {{.address = "fe80::1"}, {.address = address, .index = 3, .netdev = 2}}};
}

inline FakePort infiniband_port(std::uint16_t lid, const std::string& gid, std::uint8_t flags = 0) {
  return {.link_layer = IBV_LINK_LAYER_INFINIBAND,
          .lid = lid,
          .flags = flags,
          .gids = {{.address = gid, .type = IBV_GID_TYPE_IB}}};
}

inline QpPairRequest wanted_end(bool stamps = false) {
  QpPairRequest request;
  request.stamps = stamps;
  return request;
}
/// For a peer that may do `remote`, kGrant bits.
inline QpPairRequest offered_end(unsigned remote) {
  QpPairRequest request;
  request.responder = true;
  request.remote = static_cast<std::uint8_t>(remote);
  return request;
}

/// Waits for another thread. Only a test that fails waits to the end: under qemu a mesh needs more than 10 s.
inline bool soon(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Two adapters, near0 and far0, that reach each other.
class VerbsTest : public testing::Test {
 protected:
  VerbsTest() {
    fabric.add("near0", {port_with("192.0.2.1", IBV_MTU_4096)});
    fabric.add("far0", {port_with("192.0.2.2")});
  }
  void TearDown() override {
    EXPECT_EQ(fabric.open_contexts(), 0U) << "a device was not given back";
    EXPECT_EQ(fabric.offences(), "");
    for (const FakeQpRecord& qp : fabric.queue_pairs())
      EXPECT_FALSE(qp.exists) << qp.device << " " << qp.number;
  }

  static std::shared_ptr<VerbsDevice> open(const std::string& name) {
    auto device = VerbsDevice::open(name);
    EXPECT_TRUE(device) << device.error().context.text();
    return device.value_or(nullptr);
  }
  static std::unique_ptr<DeviceLoop> loop_of(const std::string& name) {
    auto loop = DeviceLoop::make(open(name), 64);
    EXPECT_TRUE(loop) << loop.error().context.text();
    return std::move(*loop);
  }
  static std::shared_ptr<QpPair> end_of(DeviceLoop& loop, const QpPairRequest& request) {
    auto end = make_qp_pair(loop, request);
    EXPECT_TRUE(end) << end.error().error.context.text();
    return end.value_or(nullptr);
  }
  /// Runs `task` on the loop's thread.
  static void on(DeviceLoop& loop, const std::function<void()>& task) {
    std::promise<void> done;
    loop.post([&] {
      task();
      done.set_value();
    });
    ASSERT_EQ(done.get_future().wait_for(10s), std::future_status::ready);
  }
  FakeQpRecord record_of(std::uint32_t number) const {
    const auto all = fabric.queue_pairs();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& qp) { return qp.number == number; });
    EXPECT_NE(found, all.end());
    return *found;
  }

  FakeFabric fabric;
};

}  // namespace rdma_exporter::probe
