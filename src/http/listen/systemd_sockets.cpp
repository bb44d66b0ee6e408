// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/systemd_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace rdma_exporter::http {
namespace {

constexpr int kFirst = 3;  // SD_LISTEN_FDS_START
constexpr int kMaxSockets = 64;

tl::unexpected<core::Error> sockets_error(const std::string& problem) {
  return core::config_error("--web.systemd-socket: " + problem);
}

/// The whole number in an environment variable; -1 without one.
int number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

int option_of(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool is_stream_listener(int fd) {
  const int family = option_of(fd, SO_DOMAIN);
  return (family == AF_INET || family == AF_INET6 || family == AF_UNIX) &&
         option_of(fd, SO_TYPE) == SOCK_STREAM && option_of(fd, SO_ACCEPTCONN) == 1;
}

}  // namespace

core::Result<std::vector<StreamAcceptor>> systemd_listeners(asio::io_context& io) {
  const int count = number_in("LISTEN_FDS");
  if (count < 1)
    return sockets_error("systemd passed no socket (LISTEN_FDS is not set: start the socket unit)");
  if (number_in("LISTEN_PID") != ::getpid())
    return sockets_error("the sockets are for another process (LISTEN_PID)");
  if (count > kMaxSockets) return sockets_error("more than " + std::to_string(kMaxSockets) + " sockets");
  std::vector<StreamAcceptor> acceptors;
  for (int fd = kFirst; fd < kFirst + count; ++fd) {
    if (!is_stream_listener(fd)) {
      return sockets_error("file descriptor " + std::to_string(fd) +
                           " is not a listening stream socket (the unit needs ListenStream= and Accept=no)");
    }
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    acceptors.emplace_back(io, StreamProtocol(option_of(fd, SO_DOMAIN), 0), fd);
  }
  return acceptors;
}

}  // namespace rdma_exporter::http
