// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/intern.h"
#include "host/fs/kept_files.h"

namespace rdma_exporter::host {

/// All files of a directory of attributes: ports/N/counters, ports/N/hw_counters. Notices files that
/// appeared, disappeared or were replaced, and a device that was registered again. One thread at a time.
class AttrDir : public KeptFiles {
 public:
  AttrDir(HostFs& fs, std::string path, OpenFileBudget& budget);

  /// Lists the directory if look() finds that it has changed since the last call; true if the names may have
  /// changed. After an error there are no names.
  core::Result<bool> refresh();

  const std::vector<std::string>& names() const { return *names_; }
  /// Reads file `index` of names(). The view points into `buffer`.
  core::Result<std::string_view> read(std::size_t index, std::span<char> buffer) {
    return KeptFiles::read(index, names()[index], buffer);
  }

 private:
  core::Result<bool> fail(const core::Error& error);

  core::Names names_;
};

}  // namespace rdma_exporter::host
