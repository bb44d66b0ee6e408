// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::record {

/// Unpacks one gzip member (RFC 1952) piece by piece, so that the caller decides how much to accept. Verifies
/// checksum and length in the trailer. Does not read what follows the member.
class Gunzip {
 public:
  /// `packed` must outlive it.
  explicit Gunzip(std::string_view packed);
  ~Gunzip();
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Fills `piece`; returns less only at the end of the member. Errc::parse: truncated or damaged.
  core::Result<std::size_t> read(std::span<char> piece);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace rdma_exporter::record
