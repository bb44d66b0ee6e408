// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

enum class GidType : std::uint8_t {
  other,
  ib_or_roce_v1,  ///< "IB/RoCE v1": InfiniBand and RoCE v1 GIDs have the same type
  roce_v2,        ///< "RoCE v2"
};

/// A filled slot of a port's GID table.
struct Gid {
  std::string gid;         ///< as printed: eight groups of four hexadecimal digits
  std::uint32_t slot = 0;  ///< gid_attrs/ndevs/SLOT is the interface that has the address
  GidType type = GidType::other;
  bool operator==(const Gid&) const = default;
};
/// Shared with the table: readings that find nothing new return the same list.
using GidList = std::shared_ptr<const std::vector<Gid>>;

/// `ports/N/gids` and `gid_attrs/types` of one port: 256 to 1024 slots, two files each, nearly all of them
/// empty. The kernel puts a new GID into the lowest free slot (core/cache.c find_gid), two of which are kept
/// for default GIDs; so after a reading of all slots, those that were filled and the lowest free ones show
/// whether anything changed. All are read again when it did, and every kWholeEvery readings: an InfiniBand
/// subnet manager may fill any slot. One thread at a time.
class GidTable {
 public:
  /// The filled slots, by number. Errors of slots go to `on_error`, EINVAL of empty ones too; after one, the
  /// next reading covers all slots. ENOENT: there is no table.
  core::Result<GidList> read(HostFs& sysfs, const std::string& port_path,
                             const std::function<void(const core::Error&)>& on_error);

  /// The next reading covers all slots.
  void reset() { readings_left_ = 0; }

  static constexpr unsigned kWholeEvery = 10;
  static constexpr std::size_t kFreeWatched = 3;

 private:
  using OnError = std::function<void(const core::Error&)>;
  struct Found {
    std::vector<Gid> filled;
    std::vector<std::uint32_t> free;
    bool failed = false;
  };
  static void read_slot(HostFs& sysfs, const std::string& path, std::uint32_t slot, const OnError& on_error,
                        Found& found);
  static core::Result<Found> read_all(HostFs& sysfs, const std::string& path, const OnError& on_error);
  bool is_unchanged(HostFs& sysfs, const std::string& path) const;

  GidList known_;
  std::vector<std::uint32_t> free_;  ///< the lowest free slots
  unsigned readings_left_ = 0;       ///< until all slots are read
};

}  // namespace rdma_exporter::host
