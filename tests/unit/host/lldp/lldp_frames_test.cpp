// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The packet socket on a real wire: a veth pair in a network namespace of its own.
#include "host/lldp/lldp_frames.h"

#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "host/fs/fd.h"
#include "host/lldp/lldp.h"
#include "tests/unit/support/lldp_frame.h"

namespace rdma_exporter::host {
namespace {

// What was heard on `near` when `frame` was sent on `far`.
struct Heard {
  std::string trouble;  ///< why nothing could be tried
  std::vector<std::vector<std::byte>> frames;
  std::vector<std::uint32_t> interfaces;
  std::chrono::milliseconds oldest{0};
  std::uint32_t near = 0;
};

bool send(const std::string& netdev, const std::vector<std::byte>& frame) {
  const Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(::if_nametoindex(netdev.c_str()));
  return ::sendto(fd.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                  sizeof to) == static_cast<ssize_t>(frame.size());
}

// In a thread: the namespace goes with it.
Heard hear(const std::vector<std::vector<std::byte>>& frames) {
  Heard heard;
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) != 0) {
      heard.trouble = "no network namespace without CAP_SYS_ADMIN";
      return;
    }
    if (std::system(
            "ip link add near type veth peer name far && ip link set near up && ip link set far up") != 0) {
      heard.trouble = "no veth pair: program ip, or the kernel's module";
      return;
    }
    heard.near = ::if_nametoindex("near");
    auto socket = open_lldp_frames();
    if (!socket || !(*socket)->listen_on(heard.near)) {
      heard.trouble = "no packet socket";
      return;
    }
    for (const auto& frame : frames) EXPECT_TRUE(send("far", frame));
    // A veth pair hands a frame over by softirq, on the way out of sendto().
    EXPECT_TRUE((*socket)->receive([&](const LldpFrames::Frame& frame) {
      if (frame.interface != heard.near) return;
      heard.frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
      heard.interfaces.push_back(frame.interface);
      heard.oldest = std::max(heard.oldest, frame.age);
    }));
  }).join();
  return heard;
}

TEST(LldpFramesTest, HearsANeighborOnARealWire) {
  const auto frame = test::leaf_frame().bytes();
  auto arp = frame;
  arp[13] = std::byte{0x06};
  const Heard heard = hear({frame, arp});
  if (!heard.trouble.empty()) GTEST_SKIP() << heard.trouble;
  ASSERT_EQ(heard.frames.size(), 1U) << "LLDP alone, and once";
  EXPECT_EQ(heard.frames[0], frame);
  EXPECT_EQ(parse_lldp(heard.frames[0]).value().system_name, "leaf-a12");
  EXPECT_LT(heard.oldest, std::chrono::seconds(60));
}

TEST(LldpFramesTest, HandsOverAnythingThatHasTheType) {
  auto torn = test::leaf_frame().bytes();
  torn.resize(40);
  const Heard heard = hear({torn, test::LldpFrame().end().bytes(), test::leaf_frame().bytes()});
  if (!heard.trouble.empty()) GTEST_SKIP() << heard.trouble;
  EXPECT_EQ(heard.frames.size(), 3U);
}

}  // namespace
}  // namespace rdma_exporter::host
