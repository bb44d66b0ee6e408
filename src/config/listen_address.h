// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

struct ListenAddress {
  std::string host;        ///< empty: every address of this host; an IPv6 address has no brackets here
  std::uint16_t port = 0;  ///< 0: the kernel chooses one
  std::string path;        ///< of a unix socket; host and port are then unused
  bool operator==(const ListenAddress&) const = default;
};

/// Parses ":9400", "127.0.0.1:9400", "[::1]:9400", "[fe80::1%eth0]:9400", "localhost:9400",
/// "unix:/run/x.sock". Resolves nothing. The error's context says what is wrong; it is meant to follow the
/// address in a message.
core::Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace rdma_exporter::config
