// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/ethtool/netdev_info.h"

#include <cerrno>
#include <utility>

#include "collectors/attr_text.h"
#include "core/labels.h"
#include "host/ethtool/ethtool.h"

namespace rdma_exporter::collectors {
namespace {

// For facts that can change while an interface is registered: firmware, switchdev mode.
constexpr std::chrono::seconds kInfoInterval{60};

}  // namespace

// extern, because a namespace-level constant would otherwise be local to its file.
extern constexpr core::MetricDesc kNetdevInfo{
    "rdma_netdev_info",
    core::MetricType::gauge,
    "device,port,netdev,role,driver,firmware_version,bus_address,phys_switch_id,phys_port_name",
    "",
    "Network interface of an RDMA port (role port) or one that shares its wire; always 1. Other roles: lower "
    "(below a VLAN), physical (of the physical function), bond, and member (further bond member). Interfaces "
    "with the same phys_switch_id and phys_port_name share a wire",
    "ETHTOOL_GDRVINFO; sysfs class/net/X/phys_switch_id, phys_port_name"};
static_assert(core::valid(kNetdevInfo));

NetdevInfo::NetdevInfo(host::Host& host, std::shared_ptr<const host::Netdev> netdev)
    : host_(host), netdev_(std::move(netdev)), schedule_(kInfoInterval, netdev_->path) {}

void NetdevInfo::add(core::JobRun& run) {
  if (schedule_.take(run.now())) refresh(run);
  run.samples().add_stable(kNetdevInfo, labels_, std::uint64_t{1});
}

void NetdevInfo::refresh(core::JobRun& run) {
  auto driver = host::driver_info(*host_.ethtool, netdev_->name);
  if (!driver) {
    count_unless_absent(driver.error(), run);
    driver = host::DriverInfo{netdev_->driver, "", ""};
  }
  labels_ = core::render_labels(
      {{"device", netdev_->device},
       {"port", std::to_string(netdev_->port)},
       {"netdev", netdev_->name},
       {"role", to_string(netdev_->role)},
       {"driver", driver->driver},
       {"firmware_version", driver->firmware_version},
       {"bus_address", driver->bus_address},
       {"phys_switch_id", attr_text(*host_.sysfs, netdev_->path + "/phys_switch_id", run)},
       {"phys_port_name", attr_text(*host_.sysfs, netdev_->path + "/phys_port_name", run)}});
}

}  // namespace rdma_exporter::collectors
