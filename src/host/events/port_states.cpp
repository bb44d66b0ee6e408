// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/port_states.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/text/kernel_text.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::host {
namespace {

PortState unreadable(int os_errno) {
  return {core::os_error(os_errno), core::os_error(os_errno), {}, {}, {}};
}

core::Result<std::uint32_t> read_enum(AttrFiles& files, std::string_view name) {
  std::array<char, 128> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = files.read(name, buffer);
  return text ? core::parse_enum(*text) : tl::unexpected(text.error());
}

}  // namespace

PortStates::PortStates(Host& host, std::shared_ptr<const Device> device)
    : device_(std::move(device)),
      netlink_(device_->netlink_index ? kept_netlink(host, NetlinkProtocol::rdma) : nullptr) {
  for (const std::uint32_t port : device_->ports) {
    auto files = std::make_unique<AttrFiles>(*host.sysfs, device_->port_path(port), host.open_files);
    memos_.push_back({port, std::move(files), {}, unreadable(ENODEV), {}});
  }
}

PortStates::Memo* PortStates::find(std::uint32_t port) {
  const auto memo = std::find_if(memos_.begin(), memos_.end(), [&](const Memo& m) { return m.port == port; });
  return memo == memos_.end() ? nullptr : &*memo;
}

PortState PortStates::get(std::uint32_t port, std::uint64_t cycle) {
  const std::lock_guard lock(mutex_);
  Memo* memo = find(port);
  if (memo == nullptr) return unreadable(ENODEV);
  if (memo->cycle != cycle) {
    auto answer = query_netlink(port);
    memo->value = answer ? std::move(*answer) : query_sysfs(*memo, cycle);
    memo->cycle = cycle;
  }
  return memo->value;
}

core::Result<core::LinkRate> PortStates::rate(std::uint32_t port, std::uint64_t cycle) {
  std::array<char, 128> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
  const auto text = read(port, cycle, "rate", buffer);
  return text ? core::parse_rate(*text) : tl::unexpected(text.error());
}

core::Result<std::string_view> PortStates::read(std::uint32_t port, std::uint64_t cycle,
                                                std::string_view name, std::span<char> buffer) {
  const std::lock_guard lock(mutex_);
  Memo* memo = find(port);
  if (memo == nullptr) return core::os_error(ENODEV);
  const auto files = fresh_files(*memo, cycle);
  return files ? (*files)->read(name, buffer) : tl::unexpected(files.error());
}

core::Result<AttrFiles*> PortStates::fresh_files(Memo& memo, std::uint64_t cycle) {
  if (memo.files_cycle != cycle) {
    if (const auto listed = memo.files->refresh(); !listed) return tl::unexpected(listed.error());
    memo.files_cycle = cycle;
  }
  return memo.files.get();
}

std::optional<PortState> PortStates::query_netlink(std::uint32_t port) {
  if (!netlink_) return std::nullopt;
  const auto payload = nldev::device_request(*device_->netlink_index, port);
  auto answer = ask<nldev::Port>(*netlink_, nldev::kPortGet, payload, nldev::parse_port);
  if (!answer || !answer->state || !answer->physical_state) return std::nullopt;
  return PortState{*answer->state, *answer->physical_state, std::move(answer->netdev), answer->lid,
                   answer->sm_lid};
}

PortState PortStates::query_sysfs(Memo& memo, std::uint64_t cycle) {
  const auto files = fresh_files(memo, cycle);
  if (!files) return {tl::unexpected(files.error()), tl::unexpected(files.error()), {}, {}, {}};
  return {read_enum(**files, "state"), read_enum(**files, "phys_state"), {}, {}, {}};
}

}  // namespace rdma_exporter::host
