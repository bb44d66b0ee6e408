// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "web/policy/policy.h"

namespace rdma_exporter::web {

/// What tells that a file was changed or replaced. Follows links, as those of a mounted Kubernetes secret. A
/// file that cannot be seen has only zeros.
struct FileStamp {
  dev_t device;
  ino_t inode;
  off_t size;
  timespec modified;
  timespec changed;
  bool operator==(const FileStamp& other) const;
};

FileStamp stamp_of(const std::string& path);

/// The outcome of reading a web config file and the files that it names.
struct LoadedPolicy {
  core::Result<std::shared_ptr<const Policy>> policy;  ///< the error is a whole message
  std::vector<std::string> files;                      ///< that decided it
  std::vector<FileStamp> stamps;                       ///< of `files`, from before they were read
};

/// Reads it. Blocks, and may hang with the file system.
LoadedPolicy load_policy(const std::string& path);

}  // namespace rdma_exporter::web
