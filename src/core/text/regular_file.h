// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "core/result.h"

namespace rdma_exporter::core {

/// A file that a person names: a configuration, certificate, secret or list of targets. Only a regular file
/// is opened: a pipe would wait for its writer, and a device has no end. /dev/null stands for an empty file.
/// A network file system that is gone may still block.
class RegularFile {
 public:
  /// Errc::os as from open(2), or Errc::config with "is not a regular file".
  static Result<RegularFile> open(const std::string& path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) = delete;
  ~RegularFile();

  const struct stat& status() const { return status_; }
  /// Reads the whole file. Errc::too_long beyond `max_bytes`, Errc::os as from read(2).
  Result<std::string> read(std::size_t max_bytes) const;

 private:
  RegularFile(int fd, const struct stat& status) : fd_(fd), status_(status) {}

  int fd_;
  struct stat status_;
};

/// "PATH: reason", with the errno if there is one, for a person.
tl::unexpected<Error> unreadable(const std::string& path, const Error& error);

}  // namespace rdma_exporter::core
