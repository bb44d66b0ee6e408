// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>

#include "asio/ssl.h"
#include "core/result.h"

namespace rdma_exporter::probe {

/// How the peers of the side channel know each other: certificates of one authority on both sides, or a
/// secret that both have. Files are PEM, except the secret's, which has lines `identity:hexadecimal key` of
/// 16 to 64 bytes; the first is this host's own, the others are taken from peers too, for as long as a change
/// of keys lasts.
struct Credentials {
  std::string certificate_file{};
  std::string key_file{};
  std::string authority_file{};
  std::string secret_file{};

  bool none() const {
    return certificate_file.empty() && key_file.empty() && authority_file.empty() && secret_file.empty();
  }
  bool operator==(const Credentials&) const = default;
};

/// Says whether the files are still those of before: inode, size and time of each.
std::string file_stamp(const Credentials& credentials);

enum class TlsRole : unsigned char { client, server };

/// TLS 1.3 for one role, no other version. Both sides prove who they are, or there is no connection. A null
/// pointer for credentials that are none(). Reads the files; the error names the file and never what is in
/// it. A secret that other users of the host may read is refused.
core::Result<std::shared_ptr<asio::ssl::context>> make_tls(const Credentials& credentials, TlsRole role);

}  // namespace rdma_exporter::probe
