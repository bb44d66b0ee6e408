// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <map>

#include "doctor/gather/gather.h"
#include "doctor/gather/gather_parts.h"
#include "host/netlink/nldev.h"
#include "host/netlink/nldev_resource.h"

namespace rdma_exporter::doctor {
namespace {

namespace nldev = host::nldev;

void add_limits(host::Host& host, const std::string& device, std::vector<ResourceFacts>& resources) {
  if (!host.verbs) return;
  const auto limits = host.verbs->device_limits(device);
  if (!limits) return;
  const std::map<std::string_view, std::uint32_t> most{{"qp", limits->qps},
                                                       {"cq", limits->cqs},
                                                       {"mr", limits->mrs},
                                                       {"pd", limits->pds},
                                                       {"srq", limits->srqs}};
  for (ResourceFacts& resource : resources) {
    const auto limit = most.find(resource.type);
    if (!resource.limit && limit != most.end() && limit->second > 0) resource.limit = limit->second;
  }
}

Fact<std::vector<ResourceFacts>> gather_resources(host::Host& host, const host::Device& device) {
  if (!device.netlink_index) return no_kernel("RDMA netlink");
  const auto netlink = host.make_netlink(host::NetlinkProtocol::rdma);
  if (!netlink) return no_kernel("RDMA netlink");
  std::vector<ResourceFacts> resources;
  core::Result<void> parsed;
  const auto asked = netlink->request(
      nldev::kResourceSummary, 0, nldev::device_request(*device.netlink_index), [&](host::Bytes answer) {
        parsed = nldev::parse_resource_summary(answer, [&](const nldev::ResourceCount& count) {
          resources.push_back({std::string(count.type), count.current, count.max});
        });
      });
  if (!asked) return tl::unexpected(asked.error());
  if (!parsed) return tl::unexpected(parsed.error());
  add_limits(host, device.name, resources);
  return resources;
}

}  // namespace

DeviceFacts gather_device(host::Host& host, const std::shared_ptr<const host::Device>& device) {
  DeviceFacts facts;
  facts.name = device->name;
  facts.family = device->driver;
  facts.driver =
      device->parent_driver.empty() ? std::string(host::to_string(device->driver)) : device->parent_driver;
  facts.protocol = device->protocol;
  // Without netlink: of devices with an Ethernet port only iWARP's node_type says that they are no RoCE
  // devices.
  if (facts.protocol.empty() && host.sysfs->read(device->path + "/node_type").value_or("").ends_with("RNIC"))
    facts.protocol = "iw";
  facts.firmware = host.sysfs->read(device->path + "/fw_ver").value_or("");
  facts.board_id = host.sysfs->read(device->path + "/board_id").value_or("");
  facts.pci = gather_pci(host, *device);
  facts.ports = gather_ports(host, device);
  facts.netdevs = gather_netdevs(host, device);
  facts.resources = gather_resources(host, *device);
  return facts;
}

}  // namespace rdma_exporter::doctor
