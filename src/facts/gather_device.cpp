// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <chrono>
#include <map>

#include "facts/gather.h"
#include "facts/gather_parts.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/netlink/nldev/resource.h"

namespace rdma_exporter::facts {
namespace {

namespace nldev = host::nldev;

// A device that does not say is asked again as seldom as this: the verbs device is opened for it.
constexpr std::chrono::minutes kLimitsAge{5};

void add_limits(const host::DeviceLimits& limits, std::vector<ResourceFacts>& resources) {
  const std::map<std::string_view, std::uint32_t> most{
      {"qp", limits.qps}, {"cq", limits.cqs}, {"mr", limits.mrs}, {"pd", limits.pds}, {"srq", limits.srqs}};
  for (ResourceFacts& resource : resources) {
    const auto limit = most.find(resource.type);
    if (!resource.limit && limit != most.end() && limit->second > 0) resource.limit = limit->second;
  }
}

Fact<std::vector<ResourceFacts>> read_resources(host::Host& host, const host::Device& device) {
  if (!device.netlink_index) return no_kernel("RDMA netlink");
  const auto netlink = host::kept_netlink(host, host::NetlinkProtocol::rdma);
  if (!netlink) return no_kernel("RDMA netlink");
  std::vector<ResourceFacts> resources;
  const auto take = [&](const nldev::ResourceCount& count) {
    resources.push_back({std::string(count.type), count.current, count.max});
  };
  const auto asked =
      host::ask<void>(*netlink, nldev::kResourceSummary, nldev::device_request(*device.netlink_index),
                      [&](host::Bytes answer) { return nldev::parse_resource_summary(answer, take); });
  if (!asked) return tl::unexpected(asked.error());
  return resources;
}

Fact<std::vector<ResourceFacts>> gather_resources(host::Host& host, const host::Device& device,
                                                  DeviceCache& cache, const Wanted& wanted) {
  auto resources = read_resources(host, device);
  if (!resources) return resources;
  if (const auto limits = cache.limits(wanted.or_older(kLimitsAge)); *limits)
    add_limits(**limits, *resources);
  return resources;
}

void read_fixed(host::Host& host, const host::Device& device, const AdapterEnd& adapter, const Wanted& wanted,
                DeviceMemory& memory) {
  memory.protocol = device.protocol;
  // Without netlink, only the node_type of iWARP devices shows that a device with an Ethernet port is not
  // RoCE.
  if (memory.protocol.empty() && memory.cache->node_type(wanted).value_or("").ends_with("RNIC"))
    memory.protocol = "iw";
  memory.board_id = memory.cache->board_id(wanted).value_or("");
  memory.pci = gather_pci(host, *memory.cache, adapter, wanted);
}

}  // namespace

DeviceFacts gather_device(host::Host& host, const std::shared_ptr<const host::Device>& device,
                          DeviceMemory& memory, const Pass& pass) {
  DeviceFacts facts;
  facts.name = device->name;
  facts.family = device->driver;
  facts.driver =
      device->parent_driver.empty() ? std::string(host::to_string(device->driver)) : device->parent_driver;
  if (!memory.cache) memory.cache = pass.cache.of(host, device);
  DeviceCache& cache = *memory.cache;
  const auto adapter = cache.adapter(pass.wanted);
  if (reads_fixed_facts(memory.looks++)) {
    read_fixed(host, *device, *adapter, pass.wanted, memory);
  } else if (memory.pci) {
    refresh_pci(host, cache, *adapter, pass.wanted, *memory.pci);
  }
  facts.protocol = memory.protocol;
  facts.firmware = cache.firmware(pass.wanted).value_or("");
  facts.board_id = memory.board_id;
  if (memory.pci) facts.pci = memory.pci->facts;
  facts.ports = gather_ports(host, device, memory, pass.wanted);
  facts.netdevs = gather_netdevs(host, device, memory, pass);
  facts.resources = gather_resources(host, *device, cache, pass.wanted);
  return facts;
}

}  // namespace rdma_exporter::facts
