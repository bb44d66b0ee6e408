// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>
#include <chrono>
#include <utility>

#include "facts/gather.h"
#include "facts/gather_parts.h"
#include "host/ethtool/ethernet_link.h"
#include "host/netlink/address_message.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/topology/netdev.h"
#include "host/topology/netdev_relations.h"

namespace rdma_exporter::facts {
namespace {

namespace genl = host::genl_ethtool;

constexpr std::int64_t kUp = 1;  // IFF_UP

HostAddresses::Listed list_addresses(host::Host& host) {
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

// What the fact says, without a copy.
template <typename T>
Fact<std::shared_ptr<const T>> shared(const std::shared_ptr<const Fact<T>>& fact) {
  if (!*fact) return tl::unexpected(fact->error());
  return std::shared_ptr<const T>(fact, &**fact);
}

// The netlink interfaces of ethtool and DCB.
class Settings {
 public:
  explicit Settings(host::Host& host)
      : generic_(host::kept_netlink(host, host::NetlinkProtocol::generic)),
        route_(host::kept_netlink(host, host::NetlinkProtocol::route)) {
    if (generic_) family_ = host::generic_netlink::find_family(*generic_, genl::kFamily);
  }

  void read(NetdevCache& cache, const Wanted& wanted, NetdevFacts& facts) const {
    facts.dcb = no_kernel("DCB netlink");
    if (route_) facts.dcb = shared(cache.dcb(wanted, *route_));
    if (family_) return read_ethtool({*generic_, *family_}, cache, wanted, facts);
    facts.pause = tl::unexpected(family_.error());
    facts.rings = tl::unexpected(family_.error());
    facts.speed = tl::unexpected(family_.error());
    facts.fastest_mode = tl::unexpected(family_.error());
  }

 private:
  static void read_ethtool(const EthtoolNetlink& ethtool, NetdevCache& cache, const Wanted& wanted,
                           NetdevFacts& facts) {
    facts.pause = *cache.pause(wanted, ethtool);
    facts.rings = *cache.rings(wanted, ethtool);
    facts.speed =
        cache.speed(wanted, ethtool)->map([](const LinkSpeed& link) { return link.bytes_per_second; });
    facts.fastest_mode = host::ask<std::optional<double>>(
        ethtool.netlink, ethtool.family, genl::supported_modes_request(facts.name), genl::parse_fastest_mode);
  }

  const std::unique_ptr<host::Netlink> generic_;
  const std::unique_ptr<host::Netlink> route_;
  core::Result<std::uint16_t> family_ = no_kernel("ethtool netlink");
};

Fact<std::vector<EcnFacts>> ecn_facts(const std::vector<EcnSwitch>& switches) {
  std::vector<EcnFacts> facts;
  for (const EcnSwitch& one : switches) {
    if (!one.text) return tl::unexpected(one.text.error());
    facts.push_back({one.role, one.priority, *one.text == "1"});
  }
  return facts;
}

core::Result<std::int64_t> flags(std::string_view text) {
  return core::parse_hex(text).map([](std::uint32_t value) { return static_cast<std::int64_t>(value); });
}

core::Result<std::uint64_t> positive(std::string_view text) {
  const auto value = core::parse_integer(text);
  if (!value || *value < 0) return core::parse_error();
  return static_cast<std::uint64_t>(*value);
}

NetdevFacts read_netdev(host::HostFs& sysfs, const host::Netdev& netdev, NetdevCache& cache,
                        const Wanted& wanted, const HostAddresses::Listed& addresses) {
  NetdevFacts facts;
  facts.name = netdev.name;
  facts.role = netdev.role;
  facts.port = netdev.port;
  facts.driver = netdev.driver;
  facts.is_software = netdev.role != host::NetdevRole::bond && host::is_software_netdev(sysfs, netdev.name);
  facts.mtu = read_fact(sysfs, netdev.path + "/mtu", positive);
  facts.admin_up =
      read_fact(sysfs, netdev.path + "/flags", flags).map([](auto bits) { return (bits & kUp) != 0; });
  facts.ecn = ecn_facts(*cache.ecn(wanted, sysfs));
  const auto index = read_fact(sysfs, netdev.path + "/ifindex", positive);
  if (addresses && index) {
    const auto own = (*addresses)->find(static_cast<std::uint32_t>(*index));
    facts.addresses = own == (*addresses)->end() ? std::vector<AddressFacts>() : own->second;
  } else {
    facts.addresses = tl::unexpected(addresses ? index.error() : addresses.error());
  }
  return facts;
}

}  // namespace

HostAddresses::Listed HostAddresses::since(host::Host& host, Clock::time_point not_before) {
  const std::lock_guard lock(mutex_);
  if (read_at_ < not_before || read_at_ == Clock::time_point{}) {
    const Clock::time_point begun = Clock::now();
    listed_ = list_addresses(host);
    read_at_ = begun;
  }
  return listed_;
}

std::vector<NetdevFacts> gather_netdevs(host::Host& host, const std::shared_ptr<const host::Device>& device,
                                        DeviceMemory& memory, const Pass& pass) {
  if (!memory.netdevs) memory.netdevs.emplace(host);
  host::Netdevs& netdevs = *memory.netdevs;
  netdevs.refresh(std::array{device}, true, host::Netdevs::Clock::now());
  std::vector<std::shared_ptr<NetdevCache>> caches;
  for (const auto& netdev : netdevs.all()) caches.push_back(pass.cache.of(*netdev));
  memory.netdev_caches = caches;  // for the next reading
  if (netdevs.all().empty()) return {};
  const HostAddresses::Listed addresses = pass.addresses.since(host, pass.wanted.now);
  const Settings settings(host);
  std::vector<NetdevFacts> all;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const host::Netdev& netdev = *netdevs.all()[i];
    all.push_back(read_netdev(*host.sysfs, netdev, *caches[i], pass.wanted, addresses));
    settings.read(*caches[i], pass.wanted, all.back());
  }
  return all;
}

}  // namespace rdma_exporter::facts
