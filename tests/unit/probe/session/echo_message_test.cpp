// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/echo_message.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

TEST(EchoMessage, IsReadAsItWasWritten) {
  for (const EchoMessage& message :
       {EchoMessage{7, false, {}}, EchoMessage{0xffffffff, true, 0ns}, EchoMessage{1, true, 5s + 123ns}}) {
    const auto decoded = decode_echo(encode_echo(message));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, message);
  }
}

TEST(EchoMessage, OfAnotherProtocolIsNone) {
  EchoBytes bytes = encode_echo({7, true, 1us});
  EXPECT_FALSE(decode_echo(std::span(bytes).first(15)));
  bytes[0] ^= 1;
  EXPECT_FALSE(decode_echo(bytes));
  EXPECT_FALSE(decode_echo(EchoBytes{}));
}

TEST(EchoMessage, HasNoNegativeDelay) {
  EchoBytes bytes = encode_echo({7, true, 1us});
  bytes[8] = 0x80;
  EXPECT_FALSE(decode_echo(bytes));
}

}  // namespace
}  // namespace rdma_exporter::probe
