// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace rdma_exporter::http {

/// A blocking client on the loopback interface.
class Client {
 public:
  explicit Client(int family = AF_INET) : family_(family), fd_(socket(family, SOCK_STREAM, 0)) {}
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void set_receive_buffer(int bytes) { setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }
  /// The address that it comes from.
  bool bind(const char* address) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    return inet_pton(AF_INET, address, &from.sin_addr) == 1 &&
           ::bind(fd_, reinterpret_cast<sockaddr*>(&from), sizeof from) == 0;
  }
  bool connect(std::uint16_t port) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    if (family_ == AF_INET) return ::connect(fd_, reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0;
    return ::connect(fd_, reinterpret_cast<sockaddr*>(&v6), sizeof v6) == 0;
  }
  bool send(std::string_view bytes) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// Reads until `size` bytes or the end; the Date is taken out. "<reset>" and "<silence>" stand for
  /// themselves.
  std::string receive(std::size_t size = SIZE_MAX) {
    std::string bytes;
    while (bytes.size() < size) {
      pollfd waiting{fd_, POLLIN, 0};
      if (poll(&waiting, 1, 5000) == 0) return without_date(bytes) + "<silence>";
      char block[65536];
      const ssize_t n = ::recv(fd_, block, std::min(sizeof block, size - bytes.size()), 0);
      if (n < 0) return without_date(bytes) + "<reset>";
      if (n == 0) break;
      bytes.append(block, static_cast<std::size_t>(n));
    }
    return without_date(bytes);
  }
  /// True when the server has ended the connection and nothing is left to read.
  bool ended(std::chrono::milliseconds patience = std::chrono::milliseconds(5000)) {
    pollfd waiting{fd_, POLLIN, 0};
    char byte = 0;
    return poll(&waiting, 1, static_cast<int>(patience.count())) == 1 && ::recv(fd_, &byte, 1, 0) <= 0;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  static std::string without_date(std::string text) {
    for (auto at = text.find("Date: "); at != std::string::npos; at = text.find("Date: ", at)) {
      text.erase(at, text.find("\r\n", at) + 2 - at);
    }
    return text;
  }
  int family_;
  int fd_;
};

}  // namespace rdma_exporter::http
