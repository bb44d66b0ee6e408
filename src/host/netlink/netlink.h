// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/result.h"

// The two ways to send a netlink request and read the answer. The conversation makes sure that an answer
// belongs to its request (sequence number), is complete, and ends.
namespace rdma_exporter::host {

using Bytes = std::span<const std::byte>;

/// One conversation with a netlink family: a request, its answers. The seam between bytes and parsers;
/// readers use ask() and walk(). One thread at a time; a request may block inside the kernel for as
/// long as a driver's firmware takes, so no two threads wait for the same one (kept_netlink.h).
class Netlink {
 public:
  virtual ~Netlink() = default;
  /// Payload of one answer (what follows struct nlmsghdr).
  using OnMessage = std::function<void(Bytes payload)>;

  /// Sends one request (NLM_F_REQUEST is added to `flags`) and passes every answer to `on_message`. The error
  /// is the kernel's errno (positive), also that with which a dump ends, or ETIMEDOUT, EMSGSIZE (truncated),
  /// EINTR (the dump changed meanwhile), EBADMSG. Bounded: kMaxMessages answers, kReceiveTimeoutMs between
  /// two of them. After an error the next call opens a new socket, so that a late answer is never taken for
  /// the next one.
  virtual core::Result<void> request(std::uint16_t type, std::uint16_t flags, Bytes payload,
                                     const OnMessage& on_message) = 0;

  /// Takes one part of a dump; returns false if the rest is not wanted.
  using OnPart = std::function<bool(Bytes payload)>;

  /// A dump (request() with NLM_F_DUMP) that may be large, and that the caller may end early: this is no
  /// error and closes the socket, which makes the kernel stop.
  virtual core::Result<void> dump(std::uint16_t type, Bytes payload, const OnPart& on_part) = 0;

  static constexpr std::size_t kMaxMessages = 10'000;
  static constexpr int kReceiveTimeoutMs = 2'000;
};

/// The netlink families in use (include/uapi/linux/netlink.h NETLINK_*).
enum class NetlinkProtocol : std::uint8_t {
  rdma,     ///< devices, ports, statistics, resources
  route,    ///< links, DCB
  generic,  ///< ethtool
};
inline constexpr std::size_t kNetlinkProtocols = 3;

/// A socket of that family, opened at the first request. EPROTONOSUPPORT if the kernel does not have it
/// (rdma: the RDMA core is not loaded).
std::unique_ptr<Netlink> make_netlink(NetlinkProtocol protocol);

/// The same to the socket of a process instead of the kernel's (NETLINK_USERSOCK, its port), for tests.
std::unique_ptr<Netlink> make_netlink_to(std::uint32_t port);

/// One request with one answer: what `parse` (Bytes -> core::Result<T>) makes of it. The error is the
/// kernel's or the conversation's (Netlink::request), else the parser's; no answer at all is a parse error.
/// The bytes live as long as the call of `parse`.
template <typename T, typename Parse>
core::Result<T> ask(Netlink& netlink, std::uint16_t type, Bytes payload, Parse&& parse) {
  std::optional<core::Result<T>> answer;
  const auto asked =
      netlink.request(type, 0, payload, [&](Bytes message) { answer.emplace(parse(message)); });
  if (!asked) return tl::unexpected(asked.error());
  if (!answer) return core::parse_error();
  return *std::move(answer);
}

/// A dump: passes each message to `parse` (Bytes -> core::Result<bool>) until that returns false, because it
/// wants no more, or an error, which is the result. Other errors are those of Netlink::dump.
template <typename Parse>
core::Result<void> walk(Netlink& netlink, std::uint16_t type, Bytes payload, Parse&& parse) {
  core::Result<bool> more = true;
  const auto dumped = netlink.dump(type, payload, [&](Bytes message) {
    more = parse(message);
    return more.value_or(false);
  });
  if (!dumped) return tl::unexpected(dumped.error());
  if (!more) return tl::unexpected(more.error());
  return {};
}

}  // namespace rdma_exporter::host
