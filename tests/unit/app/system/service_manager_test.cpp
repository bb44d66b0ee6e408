// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "host/fs/fd.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;

/// The socket of a service manager at `address`, in the environment of this process while it lives.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& address)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.copy(name.sun_path, sizeof name.sun_path - 1);
    if (address.front() == '@') name.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&name), size), 0);
    ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  ~NotifySocket() {
    for (const char* variable : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(variable);
  }

  /// The next datagram; empty when there is none.
  std::string received() const {
    std::array<char, 512> buffer{};
    const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    return size < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

 private:
  const host::Fd fd_;
};

class ServiceManagerTest : public ::testing::Test {
 protected:
  test::TempTree tree_;
  const std::string path_ = tree_.root() + "/notify";
};

TEST_F(ServiceManagerTest, SendsEachStateAsOneDatagram) {
  const NotifySocket socket(path_);
  const ServiceManager manager;
  manager.ready("serving");
  EXPECT_EQ(socket.received(), "READY=1\nSTATUS=serving");
  manager.alive();
  EXPECT_EQ(socket.received(), "WATCHDOG=1");
  manager.stopping();
  EXPECT_EQ(socket.received(), "STOPPING=1\nSTATUS=stopping");
}

TEST_F(ServiceManagerTest, DatesAReloadByTheMonotonicClock) {
  const NotifySocket socket(path_);
  const auto before = std::chrono::steady_clock::now().time_since_epoch();
  ServiceManager().reloading();
  const auto after = std::chrono::steady_clock::now().time_since_epoch();
  const std::string message = socket.received();
  const std::string prefix = "RELOADING=1\nMONOTONIC_USEC=";
  ASSERT_EQ(message.substr(0, prefix.size()), prefix);
  const std::chrono::microseconds time(std::stoll(message.substr(prefix.size())));
  EXPECT_GE(time, std::chrono::floor<std::chrono::microseconds>(before));
  EXPECT_LE(time, after);
}

TEST_F(ServiceManagerTest, KnowsTheAbstractNamespace) {
  const NotifySocket socket("@rdma_exporter_test_" + std::to_string(::getpid()));
  ServiceManager().alive();
  EXPECT_EQ(socket.received(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, TalksToNobodyWhoseAddressItWasNotGiven) {
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  const std::string cut = path_ + std::string(kLongest - path_.size(), 'x');
  const NotifySocket near(cut);
  ASSERT_EQ(::chdir(tree_.root().c_str()), 0);
  const NotifySocket relative("relative");
  ::unsetenv("NOTIFY_SOCKET");
  ServiceManager().ready("serving");
  for (const std::string& address :
       {std::string("relative"), std::string("/"), std::string(), path_ + "/none", cut + "y"}) {
    ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
    const ServiceManager manager;
    manager.ready("serving");
    EXPECT_EQ(relative.received(), "") << address;
    EXPECT_EQ(near.received(), "") << address;
  }
  ::setenv("NOTIFY_SOCKET", cut.c_str(), 1);
  ServiceManager().ready("serving");
  EXPECT_NE(near.received(), "") << "the longest address that there can be";
  EXPECT_EQ(::chdir("/"), 0);
}

TEST_F(ServiceManagerTest, DoesNotWaitForASocketThatNobodyReads) {
  const NotifySocket socket(path_);
  const ServiceManager manager;
  for (int i = 0; i < 10'000; ++i)
    manager.alive();  // more than any queue holds; a send that waits never ends
  EXPECT_EQ(socket.received(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, FeedsTheWatchdogAtHalfItsTime) {
  const NotifySocket socket(path_);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), 15s);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), 15s);
}

TEST_F(ServiceManagerTest, IsNotWatchedWhenAnotherProcessIsOrTheTimeIsNoNumber) {
  const NotifySocket socket(path_);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt);
  ::unsetenv("WATCHDOG_PID");
  for (const char* wrong : {"", "0", "-1", "30s", "99999999999999999999"}) {
    ::setenv("WATCHDOG_USEC", wrong, 1);
    EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace rdma_exporter::app
