// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace rdma_exporter::probe {

/// Content of an echo, 16 bytes: a number that the answer repeats and, in the answer, how long the
/// responder's process held the echo by its own clock, from seeing it to just before posting the answer. That
/// time is part of the round trip of the same sample.
struct EchoMessage {
  std::uint32_t number = 0;
  bool answer = false;
  std::optional<std::chrono::nanoseconds> delay;
  bool operator==(const EchoMessage&) const = default;
};

inline constexpr std::size_t kEchoSize = 16;
using EchoBytes = std::array<std::uint8_t, kEchoSize>;

EchoBytes encode_echo(const EchoMessage& message);
/// nullopt: not an echo message.
std::optional<EchoMessage> decode_echo(std::span<const std::uint8_t> bytes);

}  // namespace rdma_exporter::probe
