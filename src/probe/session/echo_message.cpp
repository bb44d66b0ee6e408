// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/echo_message.h"

#include "probe/channel/frame_bytes.h"

namespace rdma_exporter::probe {
namespace {

constexpr std::uint8_t kAnswer = 1;
constexpr std::uint8_t kHasDelay = 2;
constexpr std::uint16_t kMagic = 0x5845;

}  // namespace

EchoBytes encode_echo(const EchoMessage& message) {
  ByteWriter writer;
  const auto delay = message.delay.value_or(std::chrono::nanoseconds(0)).count();
  writer.u16(kMagic);
  writer.u8(0);
  writer.u8((message.answer ? kAnswer : 0U) | (message.delay ? kHasDelay : 0U));
  writer.u32(message.number);
  writer.u32(static_cast<std::uint64_t>(delay) >> 32);
  writer.u32(static_cast<std::uint64_t>(delay) & 0xffffffff);
  EchoBytes bytes{};
  const auto written = writer.take();
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::to_integer<std::uint8_t>(written[i]);
  return bytes;
}

std::optional<EchoMessage> decode_echo(std::span<const std::uint8_t> bytes) {
  ByteReader reader(std::as_bytes(bytes));
  reader.require(reader.u16() == kMagic);
  reader.u8(0, 0);
  const std::uint8_t flags = reader.u8(0, kAnswer | kHasDelay);
  EchoMessage message;
  message.number = reader.u32();
  message.answer = (flags & kAnswer) != 0;
  const std::uint64_t high = reader.u32(0x7fffffff);
  const std::uint64_t delay = high << 32 | reader.u32();
  if (!reader.complete()) return std::nullopt;
  if ((flags & kHasDelay) != 0) message.delay = std::chrono::nanoseconds(delay);
  return message;
}

}  // namespace rdma_exporter::probe
