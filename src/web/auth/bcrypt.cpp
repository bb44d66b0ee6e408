// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/bcrypt.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <memory>
#include <string_view>

namespace rdma_exporter::web {

bool bcrypt_matches(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();  // 32 KiB
  // Not crypt_r: AddressSanitizer has one of its own, so that the linker leaves out libcrypt, and it calls
  // nothing.
  const char* const made = ::crypt_rn(password.c_str(), hash.c_str(), data.get(), sizeof(crypt_data));
  const std::string_view result = made == nullptr ? "" : made;
  // crypt takes a zero byte for the end: a longer password must not pass for the part before it.
  const bool matches = made != nullptr && result.size() == hash.size() &&
                       ::CRYPTO_memcmp(result.data(), hash.data(), hash.size()) == 0 &&
                       password.find('\0') == std::string::npos;
  ::OPENSSL_cleanse(data.get(), sizeof(crypt_data));
  return matches;
}

}  // namespace rdma_exporter::web
