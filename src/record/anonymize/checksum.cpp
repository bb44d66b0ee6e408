// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "record/anonymize/checksum.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "record/question.h"

namespace rdma_exporter::record {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
  return to_hex({reinterpret_cast<const char*>(digest.data()), length});
}

}  // namespace rdma_exporter::record
