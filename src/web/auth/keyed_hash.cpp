// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/keyed_hash.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <stdexcept>
#include <string>

namespace rdma_exporter::web {

KeyedHash::KeyedHash() : key_() {
  if (::RAND_bytes(key_.data(), static_cast<int>(key_.size())) != 1)
    throw std::runtime_error("no random bytes for the password cache");
}

Digest KeyedHash::operator()(std::initializer_list<std::string_view> parts) const {
  std::string text;
  for (const std::string_view part : parts) text.append(std::to_string(part.size())).append(":").append(part);
  Digest digest{};
  unsigned size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  const bool done = ::HMAC(::EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes, text.size(),
                           digest.data(), &size) != nullptr;
  ::OPENSSL_cleanse(text.data(), text.size());
  if (!done) throw std::runtime_error("HMAC-SHA-256 failed");
  return digest;
}

}  // namespace rdma_exporter::web
