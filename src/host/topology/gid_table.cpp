// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/gid_table.h"

#include <algorithm>
#include <cerrno>

#include "core/text/kernel_text.h"

namespace rdma_exporter::host {

void GidTable::read_slot(HostFs& sysfs, const std::string& path, const std::string& slot,
                         const OnError& on_error, Found& found) {
  const auto note = [&](const core::Error& error) {
    found.failed = found.failed || !core::is_errno(error, EINVAL);
    on_error(error);
  };
  auto gid = sysfs.read(path + "/gids/" + slot);
  if (!gid) note(gid.error());
  if (!gid || core::is_zero_gid(*gid)) return found.free.push_back(slot);
  auto type = sysfs.read(path + "/gid_attrs/types/" + slot);
  if (!type) note(type.error());
  if (type) found.filled.push_back({slot, std::move(*gid), std::move(*type)});
}

core::Result<GidTable::Found> GidTable::read_all(HostFs& sysfs, const OnError& on_error) const {
  const auto slots = sysfs.list(path_ + "/gids");
  if (!slots) return tl::unexpected(slots.error());
  Found found;
  for (const std::string& slot : *slots) read_slot(sysfs, path_, slot, on_error, found);
  // By number, which is by length first: "3" before "10".
  std::sort(found.free.begin(), found.free.end(), [](const std::string& one, const std::string& other) {
    return std::pair(one.size(), one) < std::pair(other.size(), other);
  });
  found.free.resize(std::min(found.free.size(), kFreeWatched));
  found.free.shrink_to_fit();  // it had nearly all slots
  return found;
}

bool GidTable::is_unchanged(HostFs& sysfs) const {
  Found now;
  for (const Gid& gid : known_.filled)
    read_slot(
        sysfs, path_, gid.slot, [](const auto&) {}, now);
  for (const std::string& slot : known_.free)
    read_slot(
        sysfs, path_, slot, [](const auto&) {}, now);
  return now.filled == known_.filled && now.free == known_.free && !now.failed;
}

core::Result<std::vector<Gid>> GidTable::read(HostFs& sysfs, const OnError& on_error) {
  if (readings_left_ > 0 && is_unchanged(sysfs)) {
    --readings_left_;
    return known_.filled;
  }
  readings_left_ = 0;
  auto found = read_all(sysfs, on_error);
  if (!found) return tl::unexpected(found.error());
  known_ = std::move(*found);
  // A table without a free slot is small, and nothing in it would show that it has grown.
  readings_left_ = known_.failed || known_.free.empty() ? 0 : kWholeEvery - 1;
  return known_.filled;
}

}  // namespace rdma_exporter::host
