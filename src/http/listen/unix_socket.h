// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "asio/socket.h"
#include "core/result.h"

namespace rdma_exporter::http {

/// The file of a unix socket that this process created. Removed with this object, unless somebody has
/// replaced it.
class SocketFile {
 public:
  explicit SocketFile(std::string path);
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

 private:
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct OpenListener {
  StreamAcceptor acceptor;
  std::unique_ptr<SocketFile> file;
};

/// Listens on the unix socket `path`. A socket that nobody listens on any longer, as left behind by a killed
/// process, is replaced; anything else at that path is an error, like a TCP address in use. Whoever may write
/// to the file may connect: the umask decides (UMask= of systemd).
core::Result<OpenListener> open_unix_listener(asio::io_context& io, const std::string& path);

}  // namespace rdma_exporter::http
