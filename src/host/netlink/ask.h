// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/result.h"
#include "host/netlink/netlink.h"

// The two ways to ask netlink for something and read the answer. The conversation itself sees to it that an
// answer belongs to its request (sequence number), is whole, and ends.
namespace rdma_exporter::host {

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

/// A dump: gives each message to `parse` (Bytes -> core::Result<bool>), until that returns false, because it
/// wants no more, or an error, which is the result. Else the error is that of Netlink::dump.
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
