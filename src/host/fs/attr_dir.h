// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/intern.h"
#include "host/fs/fd.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// A directory of small attribute files that are read repeatedly: ports/N/counters, ports/N/hw_counters.
/// Keeps descriptors open within the budget. Notices files that appeared, disappeared or were replaced, and a
/// device that was registered again. One thread at a time.
class AttrDir {
 public:
  AttrDir(HostFs& fs, std::string path, OpenFileBudget& budget);
  ~AttrDir();
  AttrDir(const AttrDir&) = delete;
  AttrDir& operator=(const AttrDir&) = delete;

  /// Lists the directory if it has changed since the last call; true if the names may have changed. A tree of
  /// plain files is checked by fstat. A directory of sysfs keeps its files as long as its device is
  /// registered, so it is listed once, and a read that fails with ENODEV shows that the device has gone.
  /// ENOENT: the directory does not exist; names() is then empty, and the directory is looked for again after
  /// kAbsentFor.
  core::Result<bool> refresh();

  static constexpr std::chrono::seconds kAbsentFor{5};

  const std::vector<std::string>& names() const { return *names_; }
  /// Reads file `index` of names(). The view points into `buffer`.
  core::Result<std::string_view> read(std::size_t index, std::span<char> buffer);
  /// The same by name, which must be static text; ENOENT for a file that was not there at the last refresh().
  core::Result<std::string_view> read(std::string_view name, std::span<char> buffer);

 private:
  core::Result<bool> list_again();
  core::Result<std::unique_ptr<OpenFile>> open(std::size_t index);
  void close_all();
  void close_files();
  void keep(std::size_t index, std::unique_ptr<OpenFile> file);
  bool is_kept(std::size_t index) const {
    return files_[index].valid() || (!others_.empty() && others_[index]);
  }
  core::Result<std::string_view> open_and_read(std::size_t index, std::span<char> buffer);
  void drop(std::size_t index);
  std::optional<std::size_t> find(std::string_view name);

  HostFs& fs_;
  std::string path_;
  OpenFileBudget& budget_;
  std::unique_ptr<OpenDir> dir_;  ///< within the budget, like the files; not where directories do not change
  FileId id_;
  std::chrono::steady_clock::time_point absent_until_;
  core::Names names_;
  std::vector<Fd> files_;
  /// Used instead of a descriptor for files that are more than one (a recording); otherwise empty.
  std::vector<std::unique_ptr<OpenFile>> others_;
  struct Asked {
    std::string_view name;
    std::size_t index;
  };
  /// The first few names that were requested, which are told apart by address. A reader requests the same
  /// ones in the same order each time.
  std::vector<Asked> asked_;
  std::size_t next_asked_ = 0;
};

}  // namespace rdma_exporter::host
