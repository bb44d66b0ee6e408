// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/topology/gid_table.h"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/text/kernel_text.h"

namespace rdma_exporter::host {

namespace {

GidType type_of(std::string_view text) {
  if (text == "RoCE v2") return GidType::roce_v2;
  return text == "IB/RoCE v1" ? GidType::ib_or_roce_v1 : GidType::other;
}

// By number: a directory lists "10" before "3".
std::vector<std::uint32_t> numbers(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> slots;
  for (const std::string& name : names)
    if (const auto slot = core::parse_integer(name)) slots.push_back(static_cast<std::uint32_t>(*slot));
  std::sort(slots.begin(), slots.end());
  return slots;
}

}  // namespace

void GidTable::read_slot(HostFs& sysfs, const std::string& path, std::uint32_t slot, const OnError& on_error,
                         Found& found) {
  const auto note = [&](const core::Error& error) {
    found.failed = found.failed || !core::is_errno(error, EINVAL);
    on_error(error);
  };
  const std::string name = std::to_string(slot);
  auto gid = sysfs.read(path + "/gids/" + name);
  if (!gid) note(gid.error());
  if (!gid || core::is_zero_gid(*gid)) return found.free.push_back(slot);
  const auto type = sysfs.read(path + "/gid_attrs/types/" + name);
  if (!type) note(type.error());
  if (type) found.filled.push_back({std::move(*gid), slot, type_of(*type)});
}

core::Result<GidTable::Found> GidTable::read_all(HostFs& sysfs, const std::string& path,
                                                 const OnError& on_error) {
  const auto names = sysfs.list(path + "/gids");
  if (!names) return tl::unexpected(names.error());
  Found found;
  for (const std::uint32_t slot : numbers(*names)) read_slot(sysfs, path, slot, on_error, found);
  found.free.resize(std::min(found.free.size(), kFreeWatched));
  found.free.shrink_to_fit();  // it had nearly all slots
  found.filled.shrink_to_fit();
  return found;
}

bool GidTable::is_unchanged(HostFs& sysfs, const std::string& path) const {
  Found now;
  const auto look = [&](std::uint32_t slot) {
    read_slot(
        sysfs, path, slot, [](const auto&) {}, now);
  };
  for (const Gid& gid : *known_) look(gid.slot);
  std::for_each(free_.begin(), free_.end(), look);
  return now.filled == *known_ && now.free == free_ && !now.failed;
}

core::Result<GidList> GidTable::read(HostFs& sysfs, const std::string& port_path, const OnError& on_error) {
  if (readings_left_ > 0 && is_unchanged(sysfs, port_path)) {
    --readings_left_;
    return known_;
  }
  readings_left_ = 0;
  auto found = read_all(sysfs, port_path, on_error);
  if (!found) return tl::unexpected(found.error());
  known_ = std::make_shared<const std::vector<Gid>>(std::move(found->filled));
  free_ = std::move(found->free);
  // A table without a free slot is small, and nothing in it would show that it has grown.
  readings_left_ = found->failed || free_.empty() ? 0 : kWholeEvery - 1;
  return known_;
}

}  // namespace rdma_exporter::host
