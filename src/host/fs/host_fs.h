// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/fs/fd.h"

namespace rdma_exporter::host {

/// A file that stays open and is read repeatedly from its start.
class OpenFile {
 public:
  virtual ~OpenFile() = default;
  /// One pread at offset 0 into `buffer`. A file that fills the buffer is Errc::too_long: attributes are
  /// short, and an unexpected file must not make us read more. ENODEV once the device has gone.
  virtual core::Result<std::string_view> read(std::span<char> buffer) = 0;
  /// Gives its descriptor to the caller, who then uses read_from_start(): thousands of open files cost less
  /// memory as plain descriptors. Returns an invalid one, and keeps the file, if read() is more than a pread.
  virtual Fd release() { return {}; }
};

/// What OpenFile::read() does, on a descriptor.
core::Result<std::string_view> read_from_start(const Fd& fd, std::span<char> buffer);

/// Shows whether a path still names the same directory with the same entries. On sysfs the inode number is
/// sufficient: it is never reused, while times change whenever the kernel drops its inode cache.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  ///< 0 on sysfs
  bool directory = false;
  bool operator==(const FileId&) const = default;
};

/// A name in a directory.
struct DirEntry {
  std::string name;
  std::uint64_t inode = 0;  ///< of what has the name, which may be a link; 0: not known
  auto operator<=>(const DirEntry&) const = default;
};

/// A directory that stays open.
class OpenDir {
 public:
  virtual ~OpenDir() = default;
  /// Identity and time of the last change of its entries; ENOENT once the directory was removed.
  virtual core::Result<FileId> stat() = 0;
};

/// Read-only files below a root (the host's /sys or /proc, or a recording). Paths are relative to the root;
/// symbolic links are followed, because sysfs consists of them. Every call may block for as long as the
/// kernel or a driver's firmware takes, so only workers make them. Thread-safe.
class HostFs {
 public:
  virtual ~HostFs() = default;
  /// All names in a directory, sorted, without "." and "..". Errc::too_long if there are more than
  /// kMaxEntries: an incomplete list would look like a complete one.
  virtual core::Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// The same, with what shows whether a name still stands for the same thing. For the few directories that
  /// are listed in each scrape: on sysfs they are kept open.
  virtual core::Result<std::vector<DirEntry>> entries(const std::string& path);
  /// A number that stays the same as long as entries() does, which has to be called first. Null if that
  /// cannot be told: not on sysfs, an error, or an empty directory.
  virtual std::optional<std::size_t> fingerprint(const std::string& /*path*/) { return std::nullopt; }
  /// Target of a symbolic link, as written.
  virtual core::Result<std::string> read_link(const std::string& path) = 0;
  /// The path with all links resolved, relative to the root; ENOENT if it leads outside the root.
  virtual core::Result<std::string> canonical(const std::string& path) = 0;
  virtual core::Result<FileId> stat(const std::string& path) = 0;
  virtual core::Result<std::unique_ptr<OpenFile>> open(const std::string& path) = 0;
  virtual core::Result<std::unique_ptr<OpenDir>> open_dir(const std::string& path) = 0;
  /// False on sysfs: the entries of a directory are fixed while its device is registered, and reading a
  /// removed attribute fails with ENODEV. True for trees of files.
  virtual bool directories_change() const { return true; }
  /// The path of the root itself, for messages.
  virtual const std::string& root() const = 0;

  /// Opens, reads once and closes a file: for files that are read rarely. At most 4095 bytes; trailing
  /// newlines and blanks are removed.
  core::Result<std::string> read(const std::string& path);
  bool exists(const std::string& path) { return stat(path).has_value(); }
  /// Last component of a link's target ("driver" -> "mlx5_core").
  core::Result<std::string> link_name(const std::string& path);

  /// hfi1 has about 600 counters per device; nothing has ten times that.
  static constexpr std::size_t kMaxEntries = 65536;
};

/// HostFs on the real file system below `root`.
std::unique_ptr<HostFs> make_host_fs(std::string root);

/// True when `root` is a mounted sysfs (statfs magic), not a directory that looks like one.
bool is_real_sysfs(const std::string& root);

}  // namespace rdma_exporter::host
