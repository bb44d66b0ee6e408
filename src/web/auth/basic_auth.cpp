// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/basic_auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>

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

}  // namespace rdma_exporter::web
