// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/archive/gunzip.h"

#define ZLIB_CONST  // zlib does not write to its input
#include <zlib.h>

#include <limits>
#include <new>

namespace rdma_exporter::record {

struct Gunzip::Stream {
  z_stream z = {};
  bool ended = false;
};

Gunzip::Gunzip(std::string_view packed) : stream_(std::make_unique<Stream>()) {
  constexpr int kGzipWindow = MAX_WBITS + 16;  // 16: with gzip's header and trailer
  z_stream& z = stream_->z;
  if (packed.size() > std::numeric_limits<uInt>::max() || ::inflateInit2(&z, kGzipWindow) != Z_OK)
    throw std::bad_alloc();
  z.next_in = reinterpret_cast<const Bytef*>(packed.data());
  z.avail_in = static_cast<uInt>(packed.size());
}

Gunzip::~Gunzip() { ::inflateEnd(&stream_->z); }

core::Result<std::size_t> Gunzip::read(std::span<char> piece) {
  z_stream& z = stream_->z;
  z.next_out = reinterpret_cast<Bytef*>(piece.data());
  z.avail_out = static_cast<uInt>(piece.size());
  while (z.avail_out > 0 && !stream_->ended) {
    const int status = ::inflate(&z, Z_NO_FLUSH);
    stream_->ended = status == Z_STREAM_END;
    // Z_BUF_ERROR: there is room in the output, so the input ended early.
    if (status != Z_OK && status != Z_STREAM_END) return core::parse_error();
  }
  return piece.size() - z.avail_out;
}

}  // namespace rdma_exporter::record
