// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "facts/host_addresses.h"

#include <utility>

#include "facts/gather_parts.h"
#include "host/netlink/address_message.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::facts {
namespace {

HostAddresses::Listed list(host::Host& host) {
  const auto netlink = host::kept_netlink(host, host::NetlinkProtocol::route);
  if (!netlink) return no_kernel("rtnetlink");
  auto addresses = std::make_shared<HostAddresses::ByInterface>();
  const auto take = [&](const std::optional<host::InterfaceAddress>& address) {
    if (address && !address->link_local)
      (*addresses)[address->interface].push_back({address->text, address->gid});
    return true;
  };
  return host::walk(*netlink, host::kGetAddresses, host::addresses_request(),
                    [&](host::Bytes part) { return host::parse_address(part).map(take); })
      .map([&]() -> std::shared_ptr<const HostAddresses::ByInterface> { return std::move(addresses); });
}

}  // namespace

HostAddresses::Listed HostAddresses::since(host::Host& host, Clock::time_point not_before) {
  const std::lock_guard lock(mutex_);
  if (read_at_ < not_before || read_at_ == Clock::time_point{}) {
    const Clock::time_point begun = Clock::now();
    listed_ = list(host);
    read_at_ = begun;
  }
  return listed_;
}

}  // namespace rdma_exporter::facts
