// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/listen_address.h"

#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace rdma_exporter::http {
namespace {

using ErrorCode = boost::system::error_code;
using asio::ip::tcp;

constexpr std::string_view kFlag = "--web.listen-address";

tl::unexpected<core::Error> bad_address(std::string_view address, std::string_view why) {
  return core::config_error(std::string(kFlag) + ": \"" + std::string(address) + "\": " + std::string(why));
}

struct HostPort {
  std::string_view host;
  std::uint16_t port = 0;
};

/// Splits at the last colon, behind the brackets of an IPv6 address.
std::optional<HostPort> split(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  HostPort result{address.substr(0, colon)};
  const std::string_view port = address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (error != std::errc() || end != port.data() + port.size()) return std::nullopt;

  const bool bracketed = result.host.starts_with('[') && result.host.ends_with(']');
  if (bracketed) {
    result.host = result.host.substr(1, result.host.size() - 2);
    if (result.host.empty()) return std::nullopt;
  }
  if (!bracketed && result.host.find_first_of(":[]") != std::string_view::npos) return std::nullopt;
  return result;
}

core::Result<std::vector<TcpEndpoint>> resolve(std::string_view address, const HostPort& where) {
  asio::io_context io;
  asio::ip::basic_resolver<tcp, Executor> resolver(io);
  ErrorCode error;
  const auto found = resolver.resolve(std::string(where.host), std::to_string(where.port),
                                      tcp::resolver::numeric_service | tcp::resolver::passive, error);
  if (error || found.empty()) {
    // A name server that is late, or not reached yet, answers later.
    core::Error unresolved = bad_address(address, "this host name has no address").value();
    unresolved.os_errno = EADDRNOTAVAIL;
    return tl::unexpected(std::move(unresolved));
  }
  const auto is_v4 = [](const auto& entry) { return entry.endpoint().address().is_v4(); };
  const auto v4 = std::find_if(found.begin(), found.end(), is_v4);
  return std::vector<TcpEndpoint>{(v4 == found.end() ? found.begin() : v4)->endpoint()};
}

ErrorCode listen_on(StreamAcceptor& acceptor, const TcpEndpoint& endpoint) {
  ErrorCode error;
  acceptor.open(StreamProtocol(endpoint.protocol()), error);
  if (!error) acceptor.set_option(StreamAcceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) {
    const bool only_v6 = !endpoint.address().is_unspecified();
    acceptor.set_option(asio::ip::v6_only(only_v6), error);
  }
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(StreamAcceptor::max_listen_connections, error);
  return error;
}

std::string advice(int os_errno) {
  const std::string choose = "choose another address with " + std::string(kFlag);
  switch (os_errno) {
    case EADDRINUSE:
      return "another program has this port; " + choose;
    case EACCES:
      return "ports below 1024 require a privilege; " + choose;
    case EADDRNOTAVAIL:
      return "this host does not have that address; " + choose;
    default:
      return "see " + std::string(kFlag);
  }
}

}  // namespace

std::string reason_of(const ErrorCode& error) {
  std::string text = error.message();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

tl::unexpected<core::Error> cannot_listen(std::string_view address, int os_errno, const std::string& why) {
  return tl::unexpected(core::Error{
      core::Errc::config, os_errno,
      "cannot listen on \"" + std::string(address) + "\": " + why + " (" + advice(os_errno) + ")"});
}

core::Result<std::vector<TcpEndpoint>> listen_endpoints(std::string_view address) {
  const auto where = split(address);
  if (!where)
    return bad_address(address, "want HOST:PORT, :PORT or [IPV6]:PORT, with a port from 0 to 65535");
  if (where->host.empty()) {
    return std::vector<TcpEndpoint>{{tcp::v6(), where->port}, {tcp::v4(), where->port}};
  }
  ErrorCode error;
  const auto literal = asio::ip::make_address(std::string(where->host), error);
  if (!error) return std::vector<TcpEndpoint>{{literal, where->port}};
  if (where->host.find(':') != std::string_view::npos) return bad_address(address, "not an IPv6 address");
  return resolve(address, *where);
}

core::Result<std::string> numeric_address(std::string_view address) {
  const auto where = split(address);
  ErrorCode error;
  if (address.starts_with("unix:/") || !where || where->host.empty()) return std::string(address);
  asio::ip::make_address(std::string(where->host), error);
  if (!error) return std::string(address);
  return resolve(address, *where).map([](const auto& found) { return to_string(found.front()); });
}

core::Result<StreamAcceptor> open_tcp_listener(asio::io_context& io, std::string_view address,
                                               const std::vector<TcpEndpoint>& endpoints) {
  ErrorCode error = asio::error::host_not_found;
  for (const TcpEndpoint& endpoint : endpoints) {
    StreamAcceptor acceptor(io);
    error = listen_on(acceptor, endpoint);
    if (!error) return acceptor;
    // A port in use is in use: the same port of IPv4 alone would hide from the user that IPv6 is somebody
    // else's.
    if (error == asio::error::address_in_use || error == asio::error::access_denied) break;
  }
  return cannot_listen(address, error.value(), reason_of(error));
}

std::string to_string(const TcpEndpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  const std::string port = std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

std::string to_string(const StreamProtocol::endpoint& endpoint) {
  if (endpoint.data()->sa_family == AF_UNIX) {
    const auto* const address = reinterpret_cast<const sockaddr_un*>(endpoint.data());
    return std::string("unix:") +
           std::string(address->sun_path, ::strnlen(address->sun_path, sizeof address->sun_path));
  }
  TcpEndpoint tcp;
  if (endpoint.size() > tcp.capacity()) return {};
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return to_string(tcp);
}

}  // namespace rdma_exporter::http
