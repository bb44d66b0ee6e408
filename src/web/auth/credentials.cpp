// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/credentials.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rdma_exporter::web {
namespace {

constexpr std::string_view kScheme = "Basic ";

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

std::optional<std::string> decode_base64(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::string_view digits = text.substr(0, text.size() - padding);
  // The decoder of OpenSSL skips blanks, and gives the padding as zero bytes.
  if (text.empty() || text.size() % 4 != 0 || !std::all_of(digits.begin(), digits.end(), is_base64))
    return std::nullopt;
  std::string decoded(text.size() / 4 * 3, '\0');
  const int size =
      ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  decoded.resize(static_cast<std::size_t>(size) - padding);
  return decoded;
}

}  // namespace

std::optional<Credentials> parse_basic_auth(std::string_view header) {
  const bool basic = header.size() > kScheme.size() &&
                     boost::beast::iequals({header.data(), kScheme.size()}, {kScheme.data(), kScheme.size()});
  if (!basic) return std::nullopt;
  header.remove_prefix(std::min(header.find_first_not_of(' ', kScheme.size()), header.size()));
  auto decoded = decode_base64(header);
  if (!decoded) return std::nullopt;
  std::string& text = *decoded;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  Credentials credentials{text.substr(0, colon), text.substr(colon + 1)};
  ::OPENSSL_cleanse(text.data(), text.size());
  return credentials;
}

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
