// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::http {
namespace {

namespace fs = std::filesystem;

class HttpUnixSocket : public testing::Test {
 protected:
  bool answers() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path_.copy(name.sun_path, sizeof name.sun_path - 1);
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
    ::close(fd);
    return connected;
  }
  bool there() const { return fs::exists(fs::symlink_status(path_)); }

  test::TempTree tree_;
  const std::string path_ = tree_.root() + "/x.sock";
  asio::io_context io_;
};

TEST_F(HttpUnixSocket, ListensAndTakesItsFileAway) {
  {
    const auto listener = open_unix_listener(io_, path_);
    ASSERT_TRUE(listener) << listener.error().context.text();
    EXPECT_TRUE(answers());
  }
  EXPECT_FALSE(there());
}

TEST_F(HttpUnixSocket, LeavesASocketToTheProcessThatListensOnIt) {
  const auto first = open_unix_listener(io_, path_);
  ASSERT_TRUE(first);
  const auto second = open_unix_listener(io_, path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().os_errno, EADDRINUSE);
  EXPECT_TRUE(answers());
}

TEST_F(HttpUnixSocket, ReplacesASocketThatNobodyListensOn) {
  auto killed = open_unix_listener(io_, path_);
  ASSERT_TRUE(killed);
  fs::rename(path_, path_ + ".kept");
  killed = tl::unexpected(core::Error{});  // closes, and does not find its file
  fs::rename(path_ + ".kept", path_);
  EXPECT_FALSE(answers());
  const auto next = open_unix_listener(io_, path_);
  ASSERT_TRUE(next) << next.error().context.text();
  EXPECT_TRUE(answers());
}

TEST_F(HttpUnixSocket, LeavesAloneWhatIsNoSocket) {
  tree_.write("x.sock", "text");
  const auto listener = open_unix_listener(io_, path_);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().os_errno, EEXIST);
  EXPECT_TRUE(fs::is_regular_file(path_));
}

TEST_F(HttpUnixSocket, LeavesTheFileThatTookThePlaceOfItsOwn) {
  {
    const auto listener = open_unix_listener(io_, path_);
    ASSERT_TRUE(listener);
    fs::rename(path_, path_ + ".old");
    tree_.write("x.sock", "of the one that came after");
  }
  EXPECT_TRUE(there());
}

}  // namespace
}  // namespace rdma_exporter::http
