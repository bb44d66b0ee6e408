// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/gzip.h"

#define ZLIB_CONST  // zlib does not write to its input
#include <zlib.h>

#include <limits>

namespace rdma_exporter::core {

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1;
  constexpr int kGzipWindow = MAX_WBITS + 16;  // 16: with the header and the trailer of gzip
  constexpr int kMemory = 8;                   // zlib's default
  static_assert(std::numeric_limits<uInt>::max() >= 0xFFFFFFFF);
  z_stream stream{};
  if (text.size() > std::numeric_limits<uInt>::max() ||
      ::deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<const Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(whole ? stream.total_out : 0);
  ::deflateEnd(&stream);
  out.shrink_to_fit();
  return out;
}

}  // namespace rdma_exporter::core
