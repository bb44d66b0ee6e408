// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace rdma_exporter::web {

using Digest = std::array<std::uint8_t, 32>;

/// HMAC-SHA-256 with a random key for each object. A digest can be stored and compared in place of a secret:
/// it does not reveal the secret, and because nobody can predict it, neither does the time that a comparison
/// takes.
class KeyedHash {
 public:
  KeyedHash();  ///< throws std::runtime_error when the system has no random bytes
  /// Hashes the parts and their boundaries: ("ab", "c") and ("a", "bc") differ.
  Digest operator()(std::initializer_list<std::string_view> parts) const;

 private:
  Digest key_;
};

}  // namespace rdma_exporter::web
