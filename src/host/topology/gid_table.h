// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// A filled slot of a port's GID table.
struct Gid {
  std::string slot;  ///< name of its file: "3"; gid_attrs/ndevs/SLOT is the interface that has the address
  std::string gid;   ///< as printed: eight groups of four hexadecimal digits
  std::string type;  ///< "RoCE v2", or "IB/RoCE v1": InfiniBand GIDs print that too
  bool operator==(const Gid&) const = default;
};

/// `ports/N/gids` and `gid_attrs/types` of one port: 256 to 1024 slots, two files each, nearly all of them
/// empty. The kernel puts a new GID into the lowest free slot (core/cache.c find_gid), two of which are kept
/// for default GIDs; so after a reading of all slots, those that were filled and the lowest free ones show
/// whether anything changed. All are read again when it did, and every kWholeEvery readings: an InfiniBand
/// subnet manager may fill any slot. One thread at a time.
class GidTable {
 public:
  explicit GidTable(std::string port_path) : path_(std::move(port_path)) {}

  /// The filled slots. Errors of slots go to `on_error`, EINVAL of empty ones too; after one, the next
  /// reading covers all slots. ENOENT: there is no table.
  core::Result<std::vector<Gid>> read(HostFs& sysfs, const std::function<void(const core::Error&)>& on_error);

  /// The next reading covers all slots.
  void reset() { readings_left_ = 0; }

  static constexpr unsigned kWholeEvery = 10;
  static constexpr std::size_t kFreeWatched = 3;

 private:
  using OnError = std::function<void(const core::Error&)>;
  struct Found {
    std::vector<Gid> filled;
    std::vector<std::string> free;
    bool failed = false;
  };
  static void read_slot(HostFs& sysfs, const std::string& path, const std::string& slot,
                        const OnError& on_error, Found& found);
  core::Result<Found> read_all(HostFs& sysfs, const OnError& on_error) const;
  bool is_unchanged(HostFs& sysfs) const;

  const std::string path_;
  Found known_;
  unsigned readings_left_ = 0;  ///< until all slots are read
};

}  // namespace rdma_exporter::host
