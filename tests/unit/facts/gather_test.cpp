// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Gathered facts agree with the kernel: a ConnectX with recorded netlink answers, in a tree of files.
#include "facts/gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "host/ethtool/ethernet_link.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/address_message.h"
#include "host/netlink/dcb.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/topology/inventory.h"
#include "tests/unit/support/recorded_netlink.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::facts {
namespace {

using host::genl_ethtool::Query;
using rdma_exporter::test::recorded_file;

class FactsGather : public testing::Test {
 protected:
  FactsGather() {
    host_.sysfs = host::make_host_fs(tree_.path("sys"));
    host_.procfs = host::make_host_fs(tree_.path("proc"));
    host_.make_netlink = [this](host::NetlinkProtocol protocol) {
      return std::make_unique<rdma_exporter::test::ScriptedNetlink>(scripts_[protocol]);
    };
    for (const auto protocol :
         {host::NetlinkProtocol::rdma, host::NetlinkProtocol::route, host::NetlinkProtocol::generic})
      scripts_[protocol] = std::make_shared<rdma_exporter::test::Script>();
    write_device();
    script_route();
    script_ethtool();
    scripts_[host::NetlinkProtocol::rdma]->answers[host::nldev::kSysGet] = {
        recorded_file("netlink/sys_get.bin")};
  }

  void write_device() const {
    const std::string pci = "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0";
    for (const std::string& end : {std::string("sys/devices/pci0000:3a/0000:3a:00.0"), pci}) {
      tree_.write(end + "/current_link_speed", "16.0 GT/s PCIe\n");
      tree_.write(end + "/max_link_speed", "32.0 GT/s PCIe\n");
      tree_.write(end + "/current_link_width", "8\n");
      tree_.write(end + "/max_link_width", "16\n");
    }
    tree_.write(pci + "/numa_node", "1\n");
    tree_.write(pci + "/local_cpulist", "4-7\n");
    tree_.write(pci + "/msi_irqs/40", "msix\n");
    tree_.write(pci + "/msi_irqs/41", "msix\n");
    tree_.write(pci + "/msi_irqs/42", "msix\n");  // the driver has not requested it: nothing in /proc/irq
    tree_.write("proc/irq/40/effective_affinity_list", "5\n");
    tree_.write("proc/irq/40/smp_affinity_list", "0-7\n");
    tree_.write("proc/irq/41/effective_affinity_list", "\n");
    tree_.write("proc/irq/41/smp_affinity_list", "0-3\n");
    tree_.link("../../../../bus/pci/drivers/mlx5_core", pci + "/driver");
    tree_.mkdir(pci + "/infiniband/mlx5_0");
    tree_.link("../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0", "sys/class/infiniband/mlx5_0/device");
    tree_.link("../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0", "sys/bus/pci/devices/0000:3b:00.0");
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
    tree_.write("sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
    tree_.write("sys/class/infiniband/mlx5_0/board_id", "MT_0000000838\n");
    tree_.write(port + "state", "4: ACTIVE\n");
    tree_.write(port + "phys_state", "5: LinkUp\n");
    tree_.write(port + "rate", "400 Gb/sec (4X NDR)\n");
    tree_.write(port + "link_layer", "Ethernet\n");
    tree_.write(port + "hw_counters/lifespan", "10\n");
    tree_.write(port + "gids/0", "0000:0000:0000:0000:0000:ffff:0a08:0001\n");
    tree_.write(port + "gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    tree_.write(port + "gid_attrs/types/0", "RoCE v2\n");
    tree_.write(port + "gid_attrs/ndevs/0", "cx0\n");
    tree_.write("sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=106\n");
    tree_.mkdir(pci + "/net/cx0");
    tree_.link("../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/cx0", "sys/class/net/cx0");
    tree_.link("../..", pci + "/net/cx0/device");
    tree_.write(pci + "/net/cx0/mtu", "1500\n");
    tree_.write(pci + "/net/cx0/flags", "0x1003\n");
    tree_.write(pci + "/net/cx0/dev_port", "0\n");
    tree_.write(pci + "/net/cx0/ifindex", "2\n");
  }

  void script_route() {
    auto& route = *scripts_[host::NetlinkProtocol::route];
    route.answers[host::kGetAddresses] = {recorded_file("address/ipv4.bin"),
                                          recorded_file("address/ipv6_link_local.bin")};
    route.answers[host::dcb::kGet] = {recorded_file("ethernet/connectx/dcb_ieee_get.bin")};
  }

  void script_ethtool() {
    scripts_[host::NetlinkProtocol::generic]->respond =
        [](std::uint16_t type,
           host::Bytes payload) -> std::optional<core::Result<rdma_exporter::test::Message>> {
      if (type == host::generic_netlink::kControl) return recorded_file("ethernet/getfamily.bin");
      const auto is = [&](const std::vector<std::byte>& request) {
        return std::equal(payload.begin(), payload.end(), request.begin(), request.end());
      };
      if (is(host::genl_ethtool::request(Query::pause, "cx0")))
        return recorded_file("ethernet/connectx_down/pause_get.bin");
      if (is(host::genl_ethtool::request(Query::rings, "cx0")))
        return recorded_file("ethernet/connectx/rings_get.bin");
      if (is(host::genl_ethtool::request(Query::link_modes, "cx0")))
        return recorded_file("ethernet/connectx/linkmodes_get.bin");
      if (is(host::genl_ethtool::supported_modes_request("cx0")))
        return recorded_file("ethernet/connectx/linkmodes_get_named.bin");
      return core::os_error(EOPNOTSUPP);
    };
  }

  DeviceFacts gather(Clock::duration max_age = {}) {
    host::Inventory inventory(host_, [](const std::string&) { return true; });
    EXPECT_TRUE(inventory.refresh().has_value());
    EXPECT_EQ(inventory.devices().size(), 1U);
    return gather_device(host_, inventory.devices().front(), memory_,
                         {addresses_, cache_, {Clock::now(), max_age}});
  }

  rdma_exporter::test::TempTree tree_;
  std::map<host::NetlinkProtocol, std::shared_ptr<rdma_exporter::test::Script>> scripts_;
  host::Host host_;
  DeviceMemory memory_;
  HostAddresses addresses_;
  FactCache cache_;
};

TEST_F(FactsGather, ReadsThePlaceOfTheAdapter) {
  const DeviceFacts facts = gather();
  ASSERT_TRUE(facts.pci);
  EXPECT_EQ(facts.pci->address, "0000:3b:00.0");
  ASSERT_EQ(facts.pci->links.size(), 1U);
  EXPECT_EQ(facts.pci->links[0].below.speed, 16e9);
  EXPECT_EQ(facts.pci->links[0].below.max_width, 16U);
  ASSERT_TRUE(facts.pci->links[0].above.has_value());
  EXPECT_EQ(facts.pci->links[0].above->address, "0000:3a:00.0");
  EXPECT_EQ(facts.pci->numa_node.value(), 1);
  ASSERT_EQ(facts.pci->vectors->size(), 2U);
  EXPECT_TRUE((*facts.pci->vectors)[0].cpus.intersects(*facts.pci->local_cpus));
  EXPECT_FALSE((*facts.pci->vectors)[1].cpus.intersects(*facts.pci->local_cpus)) << "by smp_affinity_list";
}

TEST_F(FactsGather, ReadsThePort) {
  const DeviceFacts facts = gather();
  EXPECT_EQ(facts.firmware, "28.39.1002");
  ASSERT_EQ(facts.ports.size(), 1U);
  const PortFacts& port = facts.ports[0];
  EXPECT_EQ(port.state.value(), 4U);
  EXPECT_EQ(port.rate.value(), 50e9);
  ASSERT_EQ((*port.gids)->size(), 1U);
  EXPECT_EQ(port.gid_netdevs, std::vector<std::string>{"cx0"});
  EXPECT_EQ(port.traffic_class->value, 106U);
  EXPECT_TRUE(port.has_counters);
  EXPECT_FALSE(port.mtu.has_value()) << "there are no verbs";
}

TEST_F(FactsGather, ReadsTheInterface) {
  const DeviceFacts facts = gather();
  ASSERT_EQ(facts.netdevs.size(), 1U);
  const NetdevFacts& netdev = facts.netdevs[0];
  EXPECT_EQ(netdev.name, "cx0");
  EXPECT_EQ(netdev.mtu.value(), 1500U);
  EXPECT_TRUE(netdev.admin_up.value());
  EXPECT_EQ((*netdev.dcb)->pfc->enabled, 0x18);
  EXPECT_EQ(netdev.pause->rx, true);
  EXPECT_EQ(netdev.rings->rx_max, 8192U);
  EXPECT_EQ(netdev.speed.value(), 50e9);
  EXPECT_EQ(netdev.fastest_mode.value(), 50e9);
  ASSERT_EQ(netdev.addresses->size(), 1U) << "without the link-local one";
  EXPECT_EQ((*netdev.addresses)[0].gid, (*facts.ports[0].gids)->at(0).gid);
  EXPECT_TRUE(is_absent(netdev.ecn.error()));
}

TEST_F(FactsGather, AsksTheInterfaceForNothingThatIsKnown) {
  gather();
  auto& ethtool = scripts_[host::NetlinkProtocol::generic]->requests;
  auto& route = scripts_[host::NetlinkProtocol::route]->requests;
  ethtool.clear();
  route.clear();
  const DeviceFacts facts = gather(std::chrono::hours(1));
  EXPECT_EQ(facts.netdevs.at(0).rings->rx_max, 8192U);
  EXPECT_EQ((*facts.netdevs.at(0).dcb)->pfc->enabled, 0x18);
  ethtool.erase(host::generic_netlink::kControl);
  ASSERT_EQ(ethtool.size(), 1U);
  EXPECT_EQ(ethtool.begin()->second, 1) << "only for the modes that it supports";
  EXPECT_EQ(route[host::dcb::kGet], 0);
}

TEST_F(FactsGather, ReadsNothingOfThePortThatIsKnown) {
  gather();
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  tree_.write(port + "state", "1: DOWN\n");
  tree_.write(port + "rate", "2.5 Gb/sec (1X SDR)\n");
  tree_.write(port + "link_layer", "InfiniBand\n");
  tree_.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "0\n");
  const DeviceFacts known = gather(std::chrono::hours(1));
  EXPECT_EQ(known.ports.at(0).state, 4U);
  EXPECT_EQ(known.ports.at(0).lanes, 4U);
  EXPECT_EQ(known.ports.at(0).link_layer, "Ethernet");
  EXPECT_EQ(known.pci->numa_node, 1);
  const DeviceFacts anew = gather();
  EXPECT_EQ(anew.ports.at(0).state, 1U);
  EXPECT_FALSE(anew.ports.at(0).lanes.has_value()) << "read only of an active port";
  EXPECT_EQ(anew.ports.at(0).link_layer, "InfiniBand");
  EXPECT_EQ(anew.pci->numa_node, 0);
}

TEST_F(FactsGather, TakesTheLinkFromTheCollector) {
  gather();
  memory_.cache->port(1).put_link({4U, 5U, core::LinkRate{50e9, 4}}, Clock::now());
  EXPECT_EQ(gather(std::chrono::hours(1)).ports.at(0).rate, 50e9);
}

TEST_F(FactsGather, AsksAnOlderKernelForPauseWithoutCounters) {
  auto& generic = *scripts_[host::NetlinkProtocol::generic];
  const auto plain = host::genl_ethtool::request(Query::pause, "cx0", false);
  generic.respond = [&plain, respond = generic.respond](std::uint16_t type, host::Bytes payload) {
    if (std::equal(payload.begin(), payload.end(), plain.begin(), plain.end()))
      return std::optional(
          core::Result<rdma_exporter::test::Message>(recorded_file("ethernet/connectx_down/pause_get.bin")));
    auto answer = respond(type, payload);
    const auto whole = host::genl_ethtool::request(Query::pause, "cx0");
    if (std::equal(payload.begin(), payload.end(), whole.begin(), whole.end()))
      answer = core::Result<rdma_exporter::test::Message>(core::os_error(EINVAL));
    return answer;
  };
  EXPECT_EQ(gather().netdevs.at(0).pause->rx, true);
}

TEST_F(FactsGather, SaysWhyItDoesNotKnow) {
  auto& route = *scripts_[host::NetlinkProtocol::route];
  route.refusals[host::kGetAddresses] = EPERM;
  route.answers[host::dcb::kGet].clear();
  route.refusals[host::dcb::kGet] = EOPNOTSUPP;
  tree_.write("sys/class/net/cx0/mtu", "many\n");
  const NetdevFacts netdev = gather().netdevs.at(0);
  EXPECT_TRUE(core::is_errno(netdev.addresses.error(), EPERM));
  EXPECT_TRUE(core::is_errno(netdev.dcb.error(), EOPNOTSUPP));
  EXPECT_EQ(core::to_string(netdev.mtu.error()), "class/net/cx0/mtu: parse");
}

TEST_F(FactsGather, ReadsTheSystem) {
  tree_.write("proc/sys/kernel/osrelease", "6.1.0-56-amd64\n");
  tree_.write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  tree_.write("proc/sys/net/ipv4/ip_local_reserved_ports", "4791,5000-5010\n");
  tree_.write("proc/self/limits",
              "Limit                     Soft Limit           Hard Limit           Units     \n"
              "Max processes             3944                 3944                 processes \n"
              "Max locked memory         8388608              unlimited            bytes     \n");
  tree_.write("sys/devices/system/node/online", "0-1\n");
  tree_.write("sys/module/ib_core/taint", "OE\n");
  const SystemFacts facts = gather_system(host_);
  EXPECT_EQ(facts.kernel_release.value(), "6.1.0-56-amd64");
  EXPECT_EQ(facts.local_ports.value(), std::pair(32768U, 60999U));
  EXPECT_TRUE(facts.reserved_ports->contains(4791));
  EXPECT_EQ(facts.locked_memory.value(), 8388608U);
  EXPECT_EQ(facts.numa_nodes.value(), 2U);
  EXPECT_TRUE(facts.out_of_tree_core);
  EXPECT_EQ(facts.shared_namespaces.value(), true);
  ASSERT_EQ(facts.adapters.size(), 1U);
  EXPECT_EQ(facts.adapters[0].driver, "mlx5_core");
  EXPECT_TRUE(facts.adapters[0].for_rdma);
  EXPECT_TRUE(facts.adapters[0].has_device);
}

TEST_F(FactsGather, KnowsAnUnlimitedLimitAndAnUnboundAdapter) {
  tree_.write("proc/self/limits",
              "Max locked memory         unlimited            unlimited            bytes     \n");
  tree_.write("sys/bus/pci/devices/0000:5e:00.0/class", "0x020000\n");
  tree_.write("sys/bus/pci/devices/0000:5e:00.0/vendor", "0x15b3\n");
  tree_.write("sys/bus/pci/devices/0000:5f:00.0/class", "0x020000\n");
  tree_.write("sys/bus/pci/devices/0000:5f:00.0/vendor", "0x8086\n");
  const SystemFacts facts = gather_system(host_);
  EXPECT_EQ(facts.locked_memory.value(), std::nullopt);
  ASSERT_EQ(facts.adapters.size(), 2U) << "a plain network card is none";
  EXPECT_EQ(facts.adapters[1].address, "0000:5e:00.0");
  EXPECT_EQ(facts.adapters[1].driver, "");
}

}  // namespace
}  // namespace rdma_exporter::facts
