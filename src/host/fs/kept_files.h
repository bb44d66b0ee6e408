// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/fs/fd.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// What AttrDir and AttrFiles have in common: small attribute files of one directory that are read
/// repeatedly. Keeps descriptors open within the budget. Notices a directory that was replaced, and on trees
/// of plain files also files that were. One thread at a time.
class KeptFiles {
 public:
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  static constexpr std::chrono::seconds kAbsentFor{5};

 protected:
  KeptFiles(HostFs& fs, std::string path, OpenFileBudget& budget);
  ~KeptFiles();

  /// Looks whether the directory is the same as in the last call. True: it is not, and all files are closed.
  /// A tree of plain files is checked by fstat. A directory of sysfs keeps its files as long as its device is
  /// registered, so only its first call looks, and a read that fails with ENODEV shows that the device has
  /// gone. ENOENT: the directory does not exist; it is looked for again after kAbsentFor.
  core::Result<bool> look();
  /// The next call looks anew.
  void forget();

  const std::string& path() const { return path_; }
  HostFs& fs() const { return fs_; }
  OpenFileBudget& budget() const { return budget_; }

  /// How many files there are; new ones are closed.
  void resize(std::size_t files);
  /// Reads file `index`, which has this name. The view points into `buffer`.
  core::Result<std::string_view> read(std::size_t index, std::string_view name, std::span<char> buffer);

 private:
  using OtherFiles = std::vector<std::unique_ptr<OpenFile>>;
  /// A directory that may change, as it was when it was looked at.
  struct Seen {
    std::unique_ptr<OpenDir> dir;  ///< null beyond the budget
    FileId id;
  };

  bool is_unchanged() const;
  core::Result<void> look_anew();
  core::Result<std::unique_ptr<OpenFile>> open(std::string_view name);
  core::Result<std::string_view> open_and_read(std::size_t index, std::string_view name,
                                               std::span<char> buffer);
  void keep(std::size_t index, std::unique_ptr<OpenFile> file);
  bool is_kept(std::size_t index) const { return files_[index].valid() || (others_ && (*others_)[index]); }
  void drop(std::size_t index);
  void close_files(std::size_t from = 0);

  HostFs& fs_;
  const std::string path_;
  OpenFileBudget& budget_;
  std::unique_ptr<Seen> seen_;  ///< null on sysfs
  std::chrono::steady_clock::time_point absent_until_;
  std::vector<Fd> files_;
  /// Used instead of a descriptor for files that are more than one (a recording); otherwise null.
  std::unique_ptr<OtherFiles> others_;
  bool is_known_ = false;
};

}  // namespace rdma_exporter::host
