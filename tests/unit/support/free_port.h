// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>

#include "asio/socket.h"

namespace rdma_exporter::test {

/// A TCP port of loopback on which nobody listens now.
inline std::uint16_t free_port() {
  boost::asio::io_context io;
  return boost::asio::ip::tcp::acceptor(io, {boost::asio::ip::address_v4::loopback(), 0})
      .local_endpoint()
      .port();
}

}  // namespace rdma_exporter::test
