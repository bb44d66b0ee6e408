// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "asio/socket.h"
#include "core/result.h"

namespace rdma_exporter::http {

using TcpEndpoint = asio::ip::tcp::endpoint;

/// Resolves a value of `--web.listen-address`: ":9400" (every address, IPv6 and IPv4), "192.0.2.1:9400",
/// "[2001:db8::1]:9400", "host.example:9400". Returns the endpoints in the order in which to try them; the
/// first one that can be bound is used. A name stands for one address, the IPv4 one if it has both. Asks the
/// resolver for names only. The error names the flag.
core::Result<std::vector<TcpEndpoint>> listen_endpoints(std::string_view address);

/// Returns the address with its host name resolved, or unchanged if it has none. May wait for a name server,
/// so that nothing has to do so later. The error names the flag.
core::Result<std::string> numeric_address(std::string_view address);

/// Returns a socket that listens on the first of `endpoints` that can be bound; [::] accepts IPv4 too. The
/// error is that of the last endpoint and names `address`, the reason and the flag; its os_errno is that
/// reason.
core::Result<StreamAcceptor> open_tcp_listener(asio::io_context& io, std::string_view address,
                                               const std::vector<TcpEndpoint>& endpoints);

/// The error for an address that cannot be bound.
tl::unexpected<core::Error> cannot_listen(std::string_view address, int os_errno, const std::string& why);

/// The system's error message in lower case, for the middle of a line.
std::string reason_of(const boost::system::error_code& error);

/// "127.0.0.1:9400", "[::1]:9400".
std::string to_string(const TcpEndpoint& endpoint);
/// The same, or "unix:/run/x.sock".
std::string to_string(const StreamProtocol::endpoint& endpoint);

}  // namespace rdma_exporter::http
