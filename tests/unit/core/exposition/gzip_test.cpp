// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace rdma_exporter::core {
namespace {

std::string gunzip(std::string packed, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0U) << "nothing behind the trailer";
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, GivesTheTextBack) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += "rdma_port_packets_total{device=\"mlx5_" + std::to_string(i) + "\"} 1\n";
  const std::string packed = gzip(text);
  EXPECT_LT(packed.size(), text.size() / 4);
  EXPECT_EQ(gunzip(packed, text.size()), text);
  EXPECT_EQ(gunzip(gzip("x"), 1), "x");
}

TEST(Gzip, TakesWhatCannotBeCompressed) {
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 100'000; ++i) noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24U);
  EXPECT_EQ(gunzip(gzip(noise), noise.size()), noise);
}

}  // namespace
}  // namespace rdma_exporter::core
