// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace rdma_exporter::web {

using Digest = std::array<std::uint8_t, 32>;

/// HMAC-SHA-256 with a key that is random for each object. A digest can be kept and compared in place of a
/// secret: it tells nobody the secret, and since nobody can predict it, not even how long a comparison takes
/// tells anything.
class KeyedHash {
 public:
  KeyedHash();  ///< throws std::runtime_error when the system has no random bytes
  /// Of the parts and where one ends: ("ab", "c") and ("a", "bc") differ.
  Digest operator()(std::initializer_list<std::string_view> parts) const;

 private:
  Digest key_;
};

}  // namespace rdma_exporter::web
