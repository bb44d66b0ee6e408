// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>

namespace rdma_exporter::probe {

/// Spreads a number over all 64 bits (the finalizer of MurmurHash3, which is in the public domain).
constexpr std::uint64_t mixed(std::uint64_t hash) {
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

/// Hash that is the same on every host and in every version, so that hosts agree on whom to probe without
/// communicating. FNV-1a followed by a finalizer, because its upper bits mix badly for short names.
constexpr std::uint64_t stable_hash(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3ULL;
  }
  return mixed(hash);
}

}  // namespace rdma_exporter::probe
