// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/fs/kept_files.h"

namespace rdma_exporter::host {

/// The few files of a directory that a reader knows by name: the state of a port, the AER counters of a PCI
/// function, which has a hundred others. One thread at a time.
class AttrFiles : public KeptFiles {
 public:
  AttrFiles(HostFs& fs, std::string path, OpenFileBudget& budget) : KeptFiles(fs, std::move(path), budget) {}

  /// True if look() finds that the directory has changed since the last call: files may have appeared.
  core::Result<bool> refresh();

  /// Reads a file, whose name must be static text: files are told apart by its address. A file that was
  /// missing when it was first read after a change of the directory is ENOENT until the next change. The view
  /// points into `buffer`.
  core::Result<std::string_view> read(std::string_view name, std::span<char> buffer);

 private:
  /// What is known of a file since the directory has changed.
  enum class Known : std::uint8_t { nothing, there, absent };
  /// A name that was asked for.
  struct Asked {
    const char* name;
    std::uint32_t size;
    Known known;
  };
  std::size_t find(std::string_view name);

  /// In the order in which a reader asks for them first, which is nearly always the same.
  std::vector<Asked> asked_;
  std::size_t next_ = 0;  ///< in asked_
};

}  // namespace rdma_exporter::host
