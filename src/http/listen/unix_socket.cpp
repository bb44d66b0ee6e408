// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/listen/unix_socket.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <utility>

#include "http/listen/listen_address.h"

namespace rdma_exporter::http {
namespace {

using ErrorCode = boost::system::error_code;
using Local = asio::local::stream_protocol;

/// Whether connecting is refused, which says that no process listens.
bool is_abandoned(asio::io_context& io, const std::string& path) {
  asio::basic_stream_socket<Local, Executor> probe(io);
  ErrorCode error;
  probe.connect(Local::endpoint(path), error);
  return error == asio::error::connection_refused;
}

bool is_socket(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode);
}

ErrorCode listen_on(StreamAcceptor& acceptor, const std::string& path) {
  const Local::endpoint endpoint(path);
  ErrorCode error;
  acceptor.open(StreamProtocol(endpoint.protocol()), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(StreamAcceptor::max_listen_connections, error);
  return error;
}

}  // namespace

SocketFile::SocketFile(std::string path) : path_(std::move(path)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

SocketFile::~SocketFile() {
  struct stat info {};
  if (inode_ == 0 || ::lstat(path_.c_str(), &info) != 0) return;
  if (info.st_dev == device_ && info.st_ino == inode_) ::unlink(path_.c_str());
}

core::Result<OpenListener> open_unix_listener(asio::io_context& io, const std::string& path) {
  StreamAcceptor acceptor(io);
  ErrorCode error = listen_on(acceptor, path);
  if (error == asio::error::address_in_use) {
    if (!is_socket(path))
      return cannot_listen("unix:" + path, EEXIST, "something that is not a socket has this name");
    if (is_abandoned(io, path) && ::unlink(path.c_str()) == 0) {
      acceptor = StreamAcceptor(io);
      error = listen_on(acceptor, path);
    }
  }
  if (error) return cannot_listen("unix:" + path, error.value(), reason_of(error));
  return OpenListener{std::move(acceptor), std::make_unique<SocketFile>(path)};
}

}  // namespace rdma_exporter::http
