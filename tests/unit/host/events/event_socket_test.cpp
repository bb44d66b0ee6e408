// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Messages that processes send to the socket. The lab tests those of the kernel.
#include "host/events/event_socket.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

constexpr unsigned kGroup = 1;

// Sends a recorded message of the kernel as a process would.
void forge(const EventSocket& socket, int times) {
  sockaddr_nl to{};
  socklen_t size = sizeof to;
  ASSERT_EQ(::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&to), &size), 0);
  to.nl_groups = 0;
  const Fd sender(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
  const auto datagram = test::recorded_file("events/uevent_remove.bin");
  for (int i = 0; i < times; ++i)
    ASSERT_EQ(::sendto(sender.get(), datagram.data(), datagram.size(), 0,
                       reinterpret_cast<const sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(datagram.size()));
}

bool something_waits(const EventSocket& socket) {
  pollfd waiting{socket.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

class EventSocketTest : public testing::Test {
 protected:
  // Of the protocols, this is the only one in which a process may send to another; to join a group of it
  // takes CAP_NET_ADMIN.
  void SetUp() override {
    auto opened = EventSocket::open(NETLINK_USERSOCK, kGroup);
    if (!opened && core::is_errno(opened.error(), EPERM))
      GTEST_SKIP() << "no group of netlink without CAP_NET_ADMIN";
    ASSERT_TRUE(opened);
    socket.emplace(std::move(*opened));
  }

  std::optional<EventSocket> socket;
};

TEST_F(EventSocketTest, PassesOverWhatProcessesSend) {
  forge(*socket, 3);
  std::vector<std::byte> buffer(4096);
  const auto received = socket->receive(buffer);
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->empty());
  EXPECT_FALSE(something_waits(*socket));
}

TEST_F(EventSocketTest, AFloodOfOthersDoesNotKeepTheThread) {
  forge(*socket, 65);
  std::vector<std::byte> buffer(4096);
  EXPECT_TRUE(socket->receive(buffer));
  EXPECT_TRUE(something_waits(*socket));
}

TEST_F(EventSocketTest, NothingWaitingIsNoError) {
  std::vector<std::byte> buffer(4096);
  const auto received = socket->receive(buffer);
  ASSERT_TRUE(received);
  EXPECT_TRUE(received->empty());
}

}  // namespace
}  // namespace rdma_exporter::host
