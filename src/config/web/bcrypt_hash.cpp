// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/web/bcrypt_hash.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace rdma_exporter::config {
namespace {

constexpr std::size_t kLength = 60;  // "$2y$10$", 22 of salt, 31 of hash
constexpr std::size_t kSaltBegins = 7;
constexpr unsigned kLowestCost = 4;  // crypt(5)

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '.' && c <= '9');  // './0123456789'
}

}  // namespace

core::Result<void> check_bcrypt_hash(std::string_view hash) {
  const bool known = hash.starts_with("$2y$") || hash.starts_with("$2b$") || hash.starts_with("$2a$");
  if (!known || hash.size() != kLength || hash[kSaltBegins - 1] != '$' ||
      !std::all_of(hash.begin() + kSaltBegins, hash.end(), is_base64)) {
    return core::config_error("is not a bcrypt hash (make one with htpasswd -nBC 10 \"\" | tr -d ':\\n')");
  }
  unsigned cost = 0;
  const auto parsed = std::from_chars(&hash[4], &hash[6], cost);
  if (parsed.ec != std::errc() || parsed.ptr != &hash[6] || cost < kLowestCost || cost > kHighestBcryptCost)
    return core::config_error("has a cost that is not 04 to " + std::to_string(kHighestBcryptCost));
  return {};
}

}  // namespace rdma_exporter::config
