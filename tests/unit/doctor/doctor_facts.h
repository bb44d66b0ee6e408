// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A healthy host: two ConnectX with RoCE, lossless on priority 3, on a host with two NUMA nodes.
#pragma once

#include <string>

#include "core/text/kernel_text.h"
#include "doctor/host_facts.h"

namespace rdma_exporter::doctor::test {

inline core::NumberList numbers(std::string_view text) { return core::parse_number_list(text).value(); }

inline PcieEnd pcie_end(const std::string& address) { return {address, 32e9, 32e9, 16, 16}; }

inline PciFacts healthy_pci() {
  PciFacts pci;
  pci.address = "0000:3b:00.0";
  pci.links = {{pcie_end("0000:3b:00.0"), pcie_end("0000:3a:00.0")}};
  pci.numa_node = 1;
  pci.local_cpus = numbers("4-7");
  pci.vectors = std::vector<Vector>{{100, numbers("4")}, {101, numbers("5")}, {102, numbers("0-7")}};
  return pci;
}

inline PortFacts healthy_port(const std::string& netdev) {
  PortFacts port;
  port.number = 1;
  port.link_layer = "Ethernet";
  port.state = 4;
  port.physical_state = 5;
  port.rate = 50e9;
  port.lanes = 4;
  port.mtu = host::PortMtu{4096, 4096};
  port.gids = std::make_shared<const std::vector<host::Gid>>(std::vector<host::Gid>{
      {"fe80:0000:0000:0000:0015:b3ff:fe00:0000", 0, host::GidType::roce_v2},
      {"0000:0000:0000:0000:0000:ffff:0a08:0001", 1, host::GidType::ib_or_roce_v1},
      {"0000:0000:0000:0000:0000:ffff:0a08:0001", 2, host::GidType::roce_v2},
  });
  port.gid_netdevs = {netdev};
  port.traffic_class = TrafficClass{106, "default of rdma_cm"};
  port.has_counters = true;
  return port;
}

/// As with probe.traffic_class: auto.
inline ProbeFacts healthy_probe() { return {std::nullopt, 106}; }

inline host::dcb::Ieee healthy_dcb() {
  host::dcb::Ieee dcb;
  dcb.pfc = host::dcb::Pfc{8, 1U << 3U, 0, {}, {}};
  dcb.ets.emplace();
  for (std::uint8_t priority = 0; priority < host::dcb::kPriorities; ++priority)
    dcb.ets->priority_class[priority] = priority;
  dcb.apps = {{host::dcb::kSelectorDscp, 3, 26}, {host::dcb::kSelectorDscp, 6, 48}};
  return dcb;
}

inline NetdevFacts healthy_netdev(const std::string& name) {
  NetdevFacts netdev;
  netdev.name = name;
  netdev.port = 1;
  netdev.driver = "mlx5_core";
  netdev.mtu = 4200;
  netdev.admin_up = true;
  netdev.addresses = std::vector<AddressFacts>{{"10.8.0.1", "0000:0000:0000:0000:0000:ffff:0a08:0001"}};
  netdev.dcb = std::make_shared<const host::dcb::Ieee>(healthy_dcb());
  netdev.pause = host::genl_ethtool::Pause{false, false};
  netdev.rings = host::genl_ethtool::Rings{1024, 8192, 1024, 8192};
  netdev.speed = std::optional(50e9);
  netdev.fastest_mode = std::optional(50e9);
  std::vector<EcnFacts> ecn;
  for (std::uint32_t priority = 0; priority < host::dcb::kPriorities; ++priority)
    for (const char* role : {"np", "rp"}) ecn.push_back({role, priority, true});
  netdev.ecn = ecn;
  return netdev;
}

inline DeviceFacts healthy_device(const std::string& name, const std::string& netdev) {
  DeviceFacts device;
  device.name = name;
  device.driver = "mlx5_core";
  device.family = host::Driver::mlx5;
  device.protocol = "roce";
  device.firmware = "28.39.1002";
  device.board_id = "MT_0000000838";
  device.pci = std::make_shared<const PciFacts>(healthy_pci());
  device.ports = {healthy_port(netdev)};
  device.netdevs = {healthy_netdev(netdev)};
  device.resources = std::vector<ResourceFacts>{{"qp", 100, 131072}, {"mr", 5000, 16777216}, {"ctx", 3, {}}};
  return device;
}

inline SystemFacts healthy_system() {
  SystemFacts system;
  system.host_name = "gpu-17";
  system.kernel_release = "6.1.0-56-amd64";
  system.kernel_version = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-2 (2026-08-02)";
  system.numa_nodes = 2;
  system.locked_memory = std::optional<std::uint64_t>();
  system.nodes = std::vector<host::DeviceNode>{{"rdma_cm", true, true}, {"uverbs0", true, true}};
  system.shared_namespaces = std::optional(true);
  system.local_ports = std::pair(32768U, 60999U);
  system.reserved_ports = core::NumberList();
  system.adapters = {{"0000:3b:00.0", "mlx5_core", false, true, true},
                     {"0000:3c:00.0", "mlx5_core", false, true, true}};
  return system;
}

inline Facts healthy_facts() {
  Facts facts;
  facts.system = healthy_system();
  facts.probe = healthy_probe();
  facts.devices = {healthy_device("mlx5_0", "cx0"), healthy_device("mlx5_1", "cx1")};
  facts.sample_seconds = 2;
  for (const char* metric : {"rdma_netdev_discards_total", "rdma_pfc_frames_total"})
    facts.counters.push_back({metric, R"(netdev="cx0")", "mlx5_0", "1", "cx0", 0, 0.0});
  for (const char* metric : {"rdma_port_ack_timeouts_total", "rdma_port_retries_exceeded_total",
                             "rdma_port_symbol_errors_total", "rdma_port_receive_buffer_missing_total"})
    facts.counters.push_back({metric, R"(device="mlx5_0",port="1")", "mlx5_0", "1", "", 0, 0.0});
  facts.counters.push_back({"rdma_device_pcie_error_messages_total",
                            R"(device="mlx5_0",end="port",pci_address="0000:3a:00.0",level="correctable")",
                            "mlx5_0", "", "", 0, 0.0});
  facts.counters.push_back({"rdma_device_pcie_root_error_messages_total",
                            R"(device="mlx5_0",pci_address="0000:3a:00.0",level="fatal")", "mlx5_0", "", "",
                            0, 0.0});
  const auto gauge = [&](const std::string& metric, const std::string& labels, double value) {
    const bool of_netdev = metric.starts_with("rdma_netdev_");
    facts.gauges.push_back({metric, labels, "mlx5_0", of_netdev ? "1" : "", of_netdev ? "cx0" : "", value});
  };
  for (const char* reporter : {"fw", "fw_fatal"})
    gauge("rdma_device_health_error", R"(device="mlx5_0",reporter=")" + std::string(reporter) + '"', 0);
  gauge("rdma_netdev_health_error", R"(device="mlx5_0",port="1",netdev="cx0",reporter="tx")", 0);
  gauge("rdma_device_firmware_update_pending", R"(device="mlx5_0",component="fw.version")", 0);
  const std::string module = R"(device="mlx5_0",port="1",netdev="cx0")";
  gauge("rdma_netdev_module_temperature_celsius", module, 45);
  gauge("rdma_netdev_module_temperature_threshold_celsius", module + R"(,level="high_alarm")", 80);
  gauge("rdma_netdev_module_temperature_threshold_celsius", module + R"(,level="high_warning")", 75);
  for (const std::string side : {"rx", "tx"}) {
    for (const char* lane : {"1", "2"})
      gauge("rdma_netdev_module_" + side + "_power_watts", module + ",lane=\"" + lane + '"', 1e-3);
    gauge("rdma_netdev_module_" + side + "_power_threshold_watts", module + R"(,level="low_warning")", 2e-4);
  }
  return facts;
}

}  // namespace rdma_exporter::doctor::test
