// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "asio/ssl.h"
#include "core/result.h"

namespace rdma_exporter::probe {

/// How peers of the control connection authenticate: with certificates issued by one authority, or with a
/// secret that both have. Files are PEM, except the secret's, which has lines `identity:hexadecimal key` of
/// 16 to 64 bytes. The first key is this host's own; the others are accepted from peers, while keys are being
/// rotated.
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

/// Shows whether files have changed: inode, size and time of each.
std::string file_stamp(const Credentials& credentials);

enum class TlsRole : unsigned char { client, server };

/// TLS 1.3 only, for one role. Both sides must authenticate. Returns a null pointer if the credentials are
/// none(). Reads the files; the error names the file but never contains its content. A secret that other
/// users of the host may read is refused.
core::Result<std::shared_ptr<asio::ssl::context>> make_tls(const Credentials& credentials, TlsRole role);

/// Reads the secrets of a context from make_tls() again, for new handshakes; existing connections stay. No
/// other thread may be in a handshake with the context. On error the old secrets stay.
core::Result<void> renew_secrets(asio::ssl::context& context, const std::string& secret_file);

/// Whether files have changed and are stable, judged by stamps taken some seconds apart. Reading a file while
/// it is being written would yield half of it, and an invalid file should not be tried again each time. One
/// thread.
class StampWatch {
 public:
  /// `in_use`: stamp of the files that were read last. True once for each change that has been stable between
  /// two calls.
  bool changed(const std::string& in_use, const std::string& stamp) {
    const bool still = std::exchange(seen_, stamp) == stamp;
    if (!still || stamp == in_use || stamp == tried_) return false;
    tried_ = stamp;
    return true;
  }

 private:
  std::string seen_;
  std::string tried_;
};

}  // namespace rdma_exporter::probe
