// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

// Names and passwords: how a request carries them, and the hashes that stand for them.
namespace rdma_exporter::web {

struct Credentials {
  std::string user;
  std::string password;
};

/// Parses the value of an Authorization header: "Basic" and the base64 of "user:password" (RFC 7617). Returns
/// nothing if it is of another kind or malformed.
std::optional<Credentials> parse_basic_auth(std::string_view header);

/// Whether `hash` (bcrypt, in the form accepted by config::parse_web_file()) is that of `password`. Takes
/// as long as the cost of the hash says, 70 ms for 10 and twice as long for each further one: never call it
/// on the io thread. As defined by bcrypt, only the first 72 bytes of the password count.
bool bcrypt_matches(const std::string& password, const std::string& hash);

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
