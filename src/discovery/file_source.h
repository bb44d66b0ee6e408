// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <string>

#include "discovery/source.h"

namespace rdma_exporter::discovery {

/// Prometheus' file_sd: JSON files, by a pattern as the shell's whose last part alone may have wildcards. A
/// file that cannot be read or is bad keeps the targets it had; one that is gone has none. Watches the
/// directory, because files are replaced and not only written to (a Kubernetes ConfigMap is a link that is
/// turned).
class FileSource final : public Source {
 public:
  explicit FileSource(std::string pattern);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Reading read() override;
  int change_fd() const override { return watch_fd_; }

 private:
  void watch();

  const std::string pattern_;
  int watch_fd_ = -1;
  std::map<std::string, TargetList> files_;  ///< by path
};

}  // namespace rdma_exporter::discovery
