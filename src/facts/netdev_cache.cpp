// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "facts/netdev_cache.h"

#include <cerrno>
#include <utility>

namespace rdma_exporter::facts {
namespace {

namespace dcb = host::dcb;
namespace genl = host::genl_ethtool;

std::vector<EcnSwitch> read_switches(host::HostFs& sysfs, const std::string& path) {
  std::vector<EcnSwitch> switches;
  for (const char* role : {"np", "rp"})
    for (std::uint32_t priority = 0; priority < dcb::kPriorities; ++priority) {
      auto text = sysfs.read(path + "/ecn/roce_" + role + "/enable/" + std::to_string(priority));
      const bool absent = !text && is_absent(text.error());
      switches.push_back({role, priority, std::move(text)});
      if (absent) return switches;
    }
  return switches;
}

}  // namespace

Cached<Fact<dcb::Ieee>>::Value NetdevCache::dcb(const Wanted& wanted, host::Netlink& route) {
  return dcb_.get(wanted, [&](const auto*) {
    return host::ask<dcb::Ieee>(route, dcb::kGet, dcb::ieee_request(name_), dcb::parse_ieee);
  });
}

Cached<Fact<LinkSpeed>>::Value NetdevCache::speed(const Wanted& wanted, const EthtoolNetlink& ethtool) {
  return speed_.get(wanted, [&](const auto*) {
    return host::ask<LinkSpeed>(ethtool.netlink, ethtool.family,
                                genl::request(genl::Query::link_modes, name_), [](host::Bytes answer) {
                                  return genl::parse_speed(answer).map([&](std::optional<double> speed) {
                                    return LinkSpeed{speed, genl::parse_lanes(answer)};
                                  });
                                });
  });
}

Cached<Fact<genl::Rings>>::Value NetdevCache::rings(const Wanted& wanted, const EthtoolNetlink& ethtool) {
  return rings_.get(wanted, [&](const auto*) {
    return host::ask<genl::Rings>(ethtool.netlink, ethtool.family, genl::request(genl::Query::rings, name_),
                                  genl::parse_rings);
  });
}

// The requests of the collector ethtool_standard, so that a recording in which only one of the two has asked
// answers the other, too.
Cached<Fact<genl::Pause>>::Value NetdevCache::pause(const Wanted& wanted, const EthtoolNetlink& ethtool) {
  const auto parse = [](host::Bytes answer) {
    return genl::parse_pause(answer, [](std::size_t, std::uint64_t) {});
  };
  const auto ask = [&](bool with_counters) {
    return host::ask<genl::Pause>(ethtool.netlink, ethtool.family,
                                  genl::request(genl::Query::pause, name_, with_counters), parse);
  };
  return pause_.get(wanted, [&](const auto*) {
    auto pause = ask(true);
    if (!pause && core::is_errno(pause.error(), EINVAL)) pause = ask(false);
    return pause;
  });
}

Cached<std::vector<EcnSwitch>>::Value NetdevCache::ecn(const Wanted& wanted, host::HostFs& sysfs) {
  return ecn_.get(wanted, [&](const auto*) { return read_switches(sysfs, path_); });
}

}  // namespace rdma_exporter::facts
