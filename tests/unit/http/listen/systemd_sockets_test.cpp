// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/systemd_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "http/listen/listen_address.h"

namespace rdma_exporter::http {
namespace {

int listener() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  EXPECT_EQ(::listen(fd, 4), 0);
  return fd;
}

/// Descriptors 3 and 4, as systemd passes them; what was there comes back at the end.
class HttpSystemdSockets : public testing::Test {
 protected:
  HttpSystemdSockets() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      kept_[i] = ::fcntl(kFirst + static_cast<int>(i), F_DUPFD_CLOEXEC, 100);
      pass(static_cast<int>(i), listener());
    }
    announce("2", std::to_string(::getpid()));
  }
  ~HttpSystemdSockets() override {
    ::unsetenv("LISTEN_FDS");
    ::unsetenv("LISTEN_PID");
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const int fd = kFirst + static_cast<int>(i);
      if (kept_[i] < 0) {
        ::close(fd);
        continue;
      }
      ::dup2(kept_[i], fd);
      ::close(kept_[i]);
    }
  }
  static void pass(int number, int fd) {
    ::dup2(fd, kFirst + number);
    if (fd != kFirst + number) ::close(fd);
  }
  static void announce(const std::string& count, const std::string& process) {
    ::setenv("LISTEN_FDS", count.c_str(), 1);
    ::setenv("LISTEN_PID", process.c_str(), 1);
  }
  std::string problem() {
    const auto taken = systemd_listeners(io_);
    return taken ? "" : taken.error().context.text();
  }

  static constexpr int kFirst = 3;
  std::array<int, 2> kept_{};
  asio::io_context io_;
};

TEST_F(HttpSystemdSockets, TakesEachSocketAndKeepsItFromChildren) {
  const auto taken = systemd_listeners(io_);
  ASSERT_TRUE(taken) << taken.error().context.text();
  ASSERT_EQ(taken->size(), 2U);
  for (const auto& acceptor : *taken) {
    EXPECT_TRUE(to_string(acceptor.local_endpoint()).starts_with("127.0.0.1:"));
    EXPECT_NE(::fcntl(const_cast<StreamAcceptor&>(acceptor).native_handle(), F_GETFD) & FD_CLOEXEC, 0);
  }
}

TEST_F(HttpSystemdSockets, TakesNothingThatIsForAnotherProcess) {
  announce("2", std::to_string(::getppid()));
  EXPECT_NE(problem().find("another process"), std::string::npos);
  announce("2", "");
  EXPECT_NE(problem().find("another process"), std::string::npos);
}

TEST_F(HttpSystemdSockets, SaysSoWhenThereIsNone) {
  for (const char* count : {"", "0", "-1", "2x"}) {
    announce(count, std::to_string(::getpid()));
    EXPECT_NE(problem().find("passed no socket"), std::string::npos) << count;
  }
}

TEST_F(HttpSystemdSockets, TakesListeningStreamSocketsOnly) {
  pass(1, ::socket(AF_INET, SOCK_STREAM, 0));
  EXPECT_NE(problem().find("descriptor 4 is not a listening stream socket"), std::string::npos) << problem();
}

TEST_F(HttpSystemdSockets, TakesNoDatagramSocket) {
  pass(0, ::socket(AF_INET, SOCK_DGRAM, 0));
  EXPECT_NE(problem().find("descriptor 3 is not a listening stream socket"), std::string::npos) << problem();
}

}  // namespace
}  // namespace rdma_exporter::http
