// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Real netlink sockets. A socket of this process replaces the kernel's and frames recorded payloads like
// net/netlink/af_netlink.c does.
#include "host/netlink/netlink.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "host/fs/fd.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

using namespace std::chrono_literals;
using test::Message;
using test::recorded_message;
using Messages = std::vector<Message>;

constexpr std::uint16_t kType = 0x1401;  // RDMA_NLDEV_CMD_GET
constexpr std::uint16_t kMulti = NLM_F_MULTI;

void append_message(Message& datagram, std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                    Bytes payload) {
  const nlmsghdr header{static_cast<std::uint32_t>(NLMSG_LENGTH(payload.size())), type, flags, sequence, 0};
  const Bytes head = std::as_bytes(std::span(&header, 1));
  datagram.insert(datagram.end(), head.begin(), head.end());
  datagram.insert(datagram.end(), payload.begin(), payload.end());
  datagram.resize(NLMSG_ALIGN(datagram.size()));
}

// One request as it came, and the answers to it.
class Request {
 public:
  Request(int fd, const sockaddr_nl& from, const nlmsghdr& request) : header(request), from_(from), fd_(fd) {}

  std::uint32_t port() const { return from_.nl_pid; }
  void send(const Message& datagram) const {
    (void)::sendto(fd_, datagram.data(), datagram.size(), 0, reinterpret_cast<const sockaddr*>(&from_),
                   sizeof from_);
  }
  void answer(const Message& payload, std::uint16_t flags = 0, std::uint16_t type = kType) const {
    Message datagram;
    append_message(datagram, type, flags, header.nlmsg_seq, payload);
    send(datagram);
  }
  // The end of a dump carries an errno: 0, or a negative one.
  void done(int result) const { answer(number(result), kMulti, NLMSG_DONE); }
  void refuse(int os_errno) const {
    nlmsgerr error{};
    error.error = -os_errno;
    error.msg = header;
    const Bytes bytes = std::as_bytes(std::span(&error, 1));
    answer(Message(bytes.begin(), bytes.end()), 0, NLMSG_ERROR);
  }

  nlmsghdr header;

 private:
  static Message number(int value) {
    const Bytes bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
  }
  sockaddr_nl from_;
  int fd_;
};

// Calls `on_request` for each request, on a thread of its own.
class FakeKernel {
 public:
  explicit FakeKernel(std::function<void(const Request&)> on_request)
      : on_request_(std::move(on_request)), thread_([this] { serve(); }) {}
  ~FakeKernel() { stop(); }

  // Before a test reads what its function has written.
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::uint32_t port() const { return port_; }

 private:
  static Fd open(std::uint32_t& port) {
    Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK));
    sockaddr_nl own{};
    own.nl_family = AF_NETLINK;
    socklen_t size = sizeof own;
    const timeval patience{0, 20'000};
    if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), size) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
      throw std::runtime_error("no socket for NETLINK_USERSOCK");
    port = own.nl_pid;
    return fd;
  }

  void serve() {
    while (!stop_) {
      Message bytes(4096);
      sockaddr_nl from{};
      socklen_t size = sizeof from;
      const ssize_t length =
          ::recvfrom(fd_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (length < static_cast<ssize_t>(sizeof(nlmsghdr))) continue;
      nlmsghdr header{};
      std::memcpy(&header, bytes.data(), sizeof header);
      on_request_(Request(fd_.get(), from, header));
    }
  }

  std::function<void(const Request&)> on_request_;
  std::uint32_t port_ = 0;
  Fd fd_ = open(port_);
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// What a request brought.
struct Outcome {
  core::Result<void> result;
  Messages messages;
};

Outcome ask(Netlink& netlink, std::uint16_t flags = 0) {
  Outcome outcome;
  outcome.result = netlink.request(kType, flags, {}, [&](Bytes payload) {
    outcome.messages.emplace_back(payload.begin(), payload.end());
  });
  return outcome;
}

int errno_of(const Outcome& outcome) { return outcome.result ? 0 : outcome.result.error().os_errno; }

TEST(NetlinkSocket, HandsOverEveryPartOfADump) {
  const Message first = recorded_message("get_0.bin");
  const Message second = recorded_message("get_1.bin");
  FakeKernel kernel([&](const Request& request) {
    request.answer(first, kMulti);
    request.answer(second, kMulti);
    request.done(0);
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()), NLM_F_DUMP);
  EXPECT_TRUE(outcome.result);
  EXPECT_EQ(outcome.messages, (Messages{first, second}));
}

TEST(NetlinkSocket, AsksForNoAcknowledgement) {
  std::uint16_t flags = 0;
  FakeKernel kernel([&](const Request& request) {
    flags = request.header.nlmsg_flags;
    request.answer(recorded_message("port_get_0.bin"));
  });
  EXPECT_TRUE(ask(*make_netlink_to(kernel.port())).result);
  kernel.stop();
  EXPECT_EQ(flags, NLM_F_REQUEST);
}

// netlink_dump_done() puts the errno into the payload of NLMSG_DONE.
TEST(NetlinkSocket, ADumpThatBreaksOffIsNotWhole) {
  FakeKernel kernel([&](const Request& request) {
    request.answer(recorded_message("res_qp_0.bin"), kMulti);
    request.done(-EIO);
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()), NLM_F_DUMP);
  EXPECT_EQ(errno_of(outcome), EIO);
  EXPECT_EQ(outcome.messages.size(), 1U);
}

TEST(NetlinkSocket, ARefusalHasItsErrnoAndKeepsTheSocket) {
  std::vector<std::uint32_t> ports;
  FakeKernel kernel([&](const Request& request) {
    ports.push_back(request.port());
    request.refuse(EOPNOTSUPP);
  });
  const auto netlink = make_netlink_to(kernel.port());
  EXPECT_EQ(errno_of(ask(*netlink)), EOPNOTSUPP);
  EXPECT_EQ(errno_of(ask(*netlink)), EOPNOTSUPP);
  kernel.stop();
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0], ports[1]);
}

TEST(NetlinkSocket, SilenceIsATimeoutAndALateAnswerIsNobodys) {
  const Message late = recorded_message("get_0.bin");
  const Message own = recorded_message("get_1.bin");
  std::optional<Request> first;
  FakeKernel kernel([&](const Request& request) {
    if (!first) {
      first = request;
      return;
    }
    first->answer(late);
    request.answer(own);
  });
  const auto netlink = make_netlink_to(kernel.port());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(errno_of(ask(*netlink)), ETIMEDOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            3 * std::chrono::milliseconds(Netlink::kReceiveTimeoutMs));
  const auto second = ask(*netlink);
  EXPECT_TRUE(second.result);
  EXPECT_EQ(second.messages, Messages{own});
}

TEST(NetlinkSocket, AnAnswerToAnotherRequestIsNotTaken) {
  FakeKernel kernel([&](const Request& request) {
    Message datagram;
    append_message(datagram, kType, 0, request.header.nlmsg_seq + 7, recorded_message("get_0.bin"));
    request.send(datagram);
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()));
  EXPECT_EQ(errno_of(outcome), EBADMSG);
  EXPECT_TRUE(outcome.messages.empty());
}

TEST(NetlinkSocket, ATornAnswerIsNotTakenForAWholeOne) {
  const Message own = recorded_message("get_0.bin");
  FakeKernel kernel([&](const Request& request) {
    Message datagram;
    append_message(datagram, kType, 0, request.header.nlmsg_seq, own);
    datagram.resize(datagram.size() - 4);
    request.send(datagram);
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()));
  EXPECT_EQ(errno_of(outcome), EBADMSG);
  EXPECT_TRUE(outcome.messages.empty());
}

TEST(NetlinkSocket, ADumpThatChangedOnTheWaySaysSo) {
  FakeKernel kernel([&](const Request& request) {
    request.answer(recorded_message("get_0.bin"), kMulti | NLM_F_DUMP_INTR);
    request.done(0);
  });
  EXPECT_EQ(errno_of(ask(*make_netlink_to(kernel.port()), NLM_F_DUMP)), EINTR);
}

// One datagram with as much as nldev puts into it (core/nldev.c nldev_get_common_dumpit: 32 KiB).
TEST(NetlinkSocket, TakesAnswersOfManyPages) {
  const Message part = recorded_message("res_qp_0.bin");
  FakeKernel kernel([&](const Request& request) {
    Message datagram;
    for (int i = 0; i < 8; ++i) append_message(datagram, kType, kMulti, request.header.nlmsg_seq, part);
    request.send(datagram);
    request.done(0);
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()), NLM_F_DUMP);
  EXPECT_TRUE(outcome.result);
  EXPECT_EQ(outcome.messages, Messages(8, part));
}

TEST(NetlinkSocket, ADumpWithoutEndIsCutAndSaysSo) {
  const Message part = recorded_message("sys_get.bin");
  FakeKernel kernel([&](const Request& request) {
    for (std::size_t sent = 0; sent <= Netlink::kMaxMessages; sent += 500) {
      Message datagram;
      for (int i = 0; i < 500; ++i) append_message(datagram, kType, kMulti, request.header.nlmsg_seq, part);
      request.send(datagram);
    }
  });
  const auto outcome = ask(*make_netlink_to(kernel.port()), NLM_F_DUMP);
  EXPECT_EQ(errno_of(outcome), EMSGSIZE);
  EXPECT_EQ(outcome.messages.size(), Netlink::kMaxMessages);
}

TEST(NetlinkSocket, WhatIsLeftOfADumpThatWasEndedIsNobodys) {
  const Message own = recorded_message("port_get_0.bin");
  bool dumped = false;
  FakeKernel kernel([&](const Request& request) {
    if (std::exchange(dumped, true)) return request.answer(own);
    for (int i = 0; i < 3; ++i) request.answer(recorded_message("res_qp_0.bin"), kMulti);
    request.done(0);
  });
  const auto netlink = make_netlink_to(kernel.port());
  std::size_t parts = 0;
  EXPECT_TRUE(netlink->dump(kType, {}, [&](Bytes) { return ++parts < 2; }));
  EXPECT_EQ(parts, 2U);
  EXPECT_EQ(ask(*netlink).messages, Messages{own});
}

}  // namespace
}  // namespace rdma_exporter::host
