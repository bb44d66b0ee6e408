// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "asio/socket.h"
#include "core/result.h"

namespace rdma_exporter::http {

/// The file of a unix socket that this process made; goes with this object, unless somebody has replaced it.
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

/// Listens on the unix socket `path`. A socket that nobody listens on any more, as a killed process leaves
/// it, is replaced; anything else that is there is an error, as for a TCP address in use. Who may connect is
/// who may write to the file: the umask decides (UMask= of systemd).
core::Result<OpenListener> open_unix_listener(asio::io_context& io, const std::string& path);

}  // namespace rdma_exporter::http
