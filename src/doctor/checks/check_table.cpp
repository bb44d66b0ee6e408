// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>

#include "doctor/checks/checks.h"

namespace rdma_exporter::doctor {

// clang-format off
namespace check {

constexpr CheckKind kSetting = CheckKind::configuration;
constexpr CheckKind kCounted = CheckKind::counters;
constexpr CheckKind kCaller = CheckKind::caller;

// extern, because a namespace-level constant would otherwise be local to its file.
extern const Check device_present{"device_present", kSetting,
    "Every RDMA adapter has its RDMA device",
    "An adapter has a network driver but no RDMA device, or there is no RDMA device at all: programs fall back to TCP or fail",
    "Load the RDMA driver (mlx5_ib, bnxt_re, irdma); dmesg may say why it created no device",
    "sysfs bus/pci/devices, class/infiniband",
    "{}: programs fall back to TCP or fail"};
extern const Check driver_bound{"driver_bound", kSetting,
    "Every RDMA adapter has a driver",
    "An adapter is on the PCI bus but no driver is bound to it; it may have failed to start",
    "Look for the PCI address in dmesg; load the driver; power-cycle the host after a firmware update",
    "sysfs bus/pci/devices/*/driver",
    "adapters {}"};
extern const Check firmware{"firmware", kSetting,
    "Cards of the same model run the same firmware",
    "Cards of the same model (board_id) run different firmware: they behave differently under congestion, and one may lack a fix",
    "Bring the cards to the same version; newly burnt firmware takes effect only after a reset of the card",
    "sysfs fw_ver, board_id",
    "cards of the same model run different firmware: {}"};
extern const Check software_roce{"software_roce", kSetting,
    "No Soft-RoCE next to hardware",
    "A software device (rxe, siw) exists on a host with RDMA hardware: a program that takes the first device it finds "
    "runs at a fraction of the speed",
    "Delete it with rdma link delete, or tell programs the name of the device to use",
    "sysfs class/infiniband",
    "there is a software device: {}"};
extern const Check port_state{"port_state", kSetting,
    "Every port is ACTIVE",
    "No traffic passes through the port. DOWN: no link. INIT: InfiniBand is waiting for its subnet manager, iWARP for an IPv4 address. ARMED: the subnet manager has not finished",
    "Check cable, transceiver and switch port; ip link set dev NETDEV up; InfiniBand: is a subnet manager running? If the port is not meant to be used: --device.exclude, or ip link set dev NETDEV down",
    "sysfs ports/N/state, phys_state; RDMA netlink PORT_GET",
    "the port is {}: no traffic passes through it"};
extern const Check link_layer{"link_layer", kSetting,
    "Ports of the same card model use the same link layer",
    "Of cards that support both, one port is InfiniBand and another Ethernet: usually one was never configured",
    "Set the port type in the firmware (mlxconfig LINK_TYPE_P1) and reset the card",
    "sysfs ports/N/link_layer",
    "ports of the same model use different link layers: {}"};
extern const Check link_speed{"link_speed", kSetting,
    "The link runs at the highest speed that it supports",
    "The port came up slower than it can run, or slower than other ports of the same card model: the slowest rank slows the whole job",
    "Check that cable and transceiver support the speed; check speed, FEC and autonegotiation of the switch port; then replace the cable",
    "ethtool LINKMODES_GET; sysfs ports/N/rate",
    "the link runs at {}"};
extern const Check link_width{"link_width", kSetting,
    "The InfiniBand link uses all its lanes",
    "The link came up with fewer lanes than other ports of the same card model, or with one: a lane is broken",
    "Reseat, then replace the cable; try another switch port",
    "sysfs ports/N/rate",
    "the link has {}"};
extern const Check pcie_link{"pcie_link", kSetting,
    "Each PCIe link runs at the speed and width that both of its ends support",
    "A PCIe link between the adapter and the processor came up slower or narrower than both of its ends support: bandwidth is lost and the adapter sends pause frames",
    "Reseat the card or the riser; try another slot; check the BIOS settings of the slot (speed, bifurcation)",
    "sysfs current_link_speed, max_link_speed, current_link_width, max_link_width along the path",
    "a PCIe link is slower than both of its ends support: {}"};
extern const Check pcie_bandwidth{"pcie_bandwidth", kSetting,
    "The path to the processor can carry the port's rate",
    "The narrowest PCIe link on the path is slower than the network port: the host cannot accept what the network delivers",
    "Use another slot with more lanes or a newer PCIe generation; see pcie_link",
    "sysfs current_link_speed, current_link_width along the path; ports/N/rate",
    "the path to the processor is too narrow: {}"};
extern const Check numa_node{"numa_node", kSetting,
    "The adapter's NUMA node is known",
    "The host has several NUMA nodes, and the firmware does not say which one the adapter belongs to: memory, threads and interrupts cannot be placed near it",
    "Check the ACPI tables for NUMA (SRAT, SLIT) and sub-NUMA clustering in the BIOS; pass the topology on to a virtual machine",
    "sysfs numa_node of the PCI function, devices/system/node/online",
    "it is unknown which memory is near the adapter: {}"};
extern const Check irq_affinity{"irq_affinity", kSetting,
    "Processors of the adapter's node handle its interrupts",
    "Most interrupt vectors of the adapter that could be handled nearby go only to processors of another node: this adds latency, and traffic between the processors",
    "Stop or configure irqbalance; use set_irq_affinity from the vendor's tools; run the application on that node with taskset",
    "sysfs msi_irqs, local_cpulist of the PCI function; procfs irq/N/effective_affinity_list, smp_affinity_list",
    "interrupts go to processors of another node: {}"};
extern const Check netdev_mtu{"netdev_mtu", kSetting,
    "The interface's MTU is 4200 or more",
    "An RDMA path MTU of 4096 does not fit: with an interface MTU of 1500 it is 1024, which means four times as many packets",
    "ip link set dev NETDEV mtu 9000, on all hosts and switch ports of the fabric",
    "sysfs mtu of the interface",
    "the MTU of the interface is {}, too small for RDMA packets of 4096 bytes"};
extern const Check rdma_mtu{"rdma_mtu", kSetting,
    "The port's RDMA MTU is its maximum",
    "Packets are smaller than the adapter could send, and a peer with a larger MTU may fail to connect",
    "RoCE: raise the MTU of the interface on both ends. InfiniBand: the subnet manager decides (partitions.conf, mtu=5)",
    "ibv_query_port active_mtu, max_mtu",
    "RDMA packets carry {}"};
extern const Check roce_gids{"roce_gids", kSetting,
    "Each address of the interface has a RoCE v2 GID",
    "Connections from or to that address fail (no route, invalid GID index) although IP works",
    "Remove the address and add it again; check that the interface is up and that IPv6 is not disabled; restart the driver",
    "sysfs ports/N/gids, gid_attrs; rtnetlink RTM_GETADDR",
    "an address has no RoCE v2 GID: {}"};
extern const Check rings{"rings", kSetting,
    "Receive and transmit rings are not too small",
    "Rings have fewer than 1024 descriptors although the adapter supports more: bursts of ordinary traffic on the same interface are dropped",
    "ethtool -G NETDEV rx 8192 tx 8192, within the limits that ethtool -g shows",
    "ethtool RINGS_GET",
    "the rings are too small: {}"};
extern const Check pfc{"pfc", kSetting,
    "PFC is on for exactly one priority",
    "None: RoCE loses packets under congestion unless the fabric is built to be lossy. Several: traffic classes block each other, and the buffers are too small for the headroom",
    "dcb pfc set dev NETDEV prio-pfc all:off 3:on (or the fabric's priority), and the same on the switch",
    "rtnetlink DCB ieee_pfc",
    "PFC should be on for exactly one priority; {}"};
extern const Check global_pause{"global_pause", kSetting,
    "Global pause is off",
    "802.3x pause stops all traffic of the port, including storage and management, and rules out PFC",
    "ethtool -A NETDEV rx off tx off, and the same on the switch port",
    "ethtool PAUSE_GET",
    "global pause (802.3x) is on: {}"};
extern const Check roce_priority{"roce_priority", kSetting,
    "RoCE traffic goes to the lossless priority",
    "RoCE packets are sent with a DSCP that maps to a priority without PFC, or without a VLAN tag: PFC is on but protects nothing",
    "Trust DSCP: dcb app add dev NETDEV dscp-prio 26:3; use the same DSCP in the application (NCCL_IB_TC=104), in rdma_cm (cma_roce_tos) and on the switch",
    "rtnetlink DCB ieee_pfc, IEEE_APP_TABLE; sysfs tc/N/traffic_class; configfs rdma_cm default_roce_tos",
    "RoCE traffic misses the lossless priority: {}"};
extern const Check probe_priority{"probe_priority", kSetting,
    "Probes go to the lossless priority",
    "The probe's packets have another priority than RoCE traffic should: it measures a queue that production does not use, and loses packets that production would not",
    "Set probe.traffic_class to DSCP * 4 + 2 of a DSCP that maps to the lossless priority (dcb app show dev NETDEV), or to auto",
    "rtnetlink DCB ieee_pfc, IEEE_APP_TABLE; probe.traffic_class; sysfs tc/N/traffic_class; configfs rdma_cm default_roce_tos",
    "the probe misses the lossless priority: {}"};
extern const Check traffic_class{"traffic_class", kSetting,
    "The lossless priority has its own traffic class",
    "The lossless priority shares its transmit queue with another priority: a pause stops both",
    "dcb ets set dev NETDEV prio-tc 3:3, and give it a share of the bandwidth",
    "rtnetlink DCB ieee_ets",
    "the lossless priority shares its queue: {}"};
extern const Check ecn{"ecn", kSetting,
    "Congestion control by ECN (DCQCN) is on for the lossless priority",
    "Senders do not slow down when packets are marked: only PFC contains congestion, which spreads through the fabric",
    "echo 1 >/sys/class/net/NETDEV/ecn/roce_np/enable/3, and the same for roce_rp; enable ECN on the switch",
    "sysfs ecn/roce_np/enable/N, ecn/roce_rp/enable/N of the interface (MLNX_OFED)",
    "congestion control by ECN is off: {}"};
extern const Check discards{"discards", kCounted,
    "The port discards no packets",
    "The host did not accept packets in time, or the port dropped them: RoCE retransmits, and everybody waits",
    "Check PCIe (pcie_link, pcie_bandwidth), PFC (pfc, roce_priority) and the rings; rdma_priority_discards_total shows the priority",
    "ethtool -S; ports/N/counters"};
extern const Check receive_buffers{"receive_buffers", kCounted,
    "Receivers have posted buffers",
    "Packets arrived for queue pairs without a posted receive request: the sender waits and tries again (RNR)",
    "In the receiving application: post more receive requests, or use a larger shared receive queue; is a process stuck?",
    "ports/N/hw_counters"};
extern const Check pause_frames{"pause_frames", kCounted,
    "Nobody is being paused",
    "A host that sends pause frames (tx) is too slow for its peers; if that lasts, it is a pause storm. A host that receives them (rx) is paused by the fabric or a peer",
    "If this host sends pause frames (tx), check its PCIe, NUMA and receive_buffers. If it receives them (rx), find the host that sends them and check the ECN thresholds of the switch",
    "ethtool -S; DCB; ethtool PAUSE_GET"};
extern const Check retries{"retries", kCounted,
    "No retransmissions",
    "Packets were lost or arrived out of order; if retries were exceeded, a connection was lost",
    "Check discards and pause_frames on both ends, drops on the switch, and load balancing that reorders packets",
    "ports/N/hw_counters"};
extern const Check link_errors{"link_errors", kCounted,
    "The physical link has no errors",
    "Symbol errors, frames with a wrong checksum, or blocks that FEC could not correct: the cable or a transceiver is bad",
    "Clean, reseat, then replace the cable or transceiver; try another switch port",
    "ports/N/counters; ethtool FEC_GET, STATS_GET; ethtool -S"};
extern const Check pcie_errors{"pcie_errors", kCounted,
    "The PCIe links have no errors",
    "PCIe errors (AER). Correctable ones come from a bad contact, riser or slot and are repaired by retransmission, at the cost of latency. Nonfatal and fatal ones: a transaction was lost, and the adapter may disappear",
    "Reseat card and riser, or use another slot; then replace them. dmesg names the function that reported the error",
    "sysfs aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal, aer_rootport_total_err_fatal"};
extern const Check health{"health", kCounted,
    "No health reporter is in error",
    "The driver reported a fault from which the adapter has not recovered (fw: firmware, fw_fatal: firmware that stopped, tx and rx: a queue); a fault that recurs costs connections each time",
    "devlink health show; devlink health diagnose and dmesg for the reporter; reset the card, then replace it",
    "devlink HEALTH_REPORTER_GET"};
extern const Check firmware_update{"firmware_update", kCounted,
    "The running firmware is the one in flash",
    "The card runs other firmware than the one burnt to it: the update is waiting for a reset",
    "Drain the host; devlink dev reload, mlxfwreset or a reboot",
    "devlink INFO_GET"};
extern const Check module{"module", kCounted,
    "The transceiver is within its own limits",
    "The module is too hot, or a lane sends or receives too little light: bit errors follow, and then the link fails. Checked only with --collector.module and CAP_NET_ADMIN",
    "Heat: check airflow, fans and the module in the next cage. Light: clean and reseat the fibre, then replace the module; if all lanes of one direction are dark, check the other end",
    "ethtool MODULE_EEPROM_GET; SFF-8472, SFF-8636, CMIS"};
extern const Check resource_limits{"resource_limits", kSetting,
    "The device has free objects left",
    "More than 80 % of the queue pairs, completion queues or memory regions of the device are in use (critical: 95 %): "
    "new connections fail with ENOMEM",
    "rdma_resource_owner_qps and rdma_resource_owner_mrs show who has them; a leak is a number that only grows",
    "RDMA netlink RES_GET; ibv_query_device",
    "the device is running out of objects: {}"};
extern const Check netns{"netns", kSetting,
    "The device belongs to this network namespace",
    "The device is visible in a network namespace that does not own it: its counters are hidden, and on some kernels reading them crashes the host",
    "Run the exporter in the host's network namespace (hostNetwork)",
    "RDMA netlink SYS_GET; sysfs ports/N/hw_counters",
    "the device belongs to another network namespace: {}"};
extern const Check udp_port{"udp_port", kSetting,
    "UDP port 4791 is reserved for RoCE v2",
    "The range of ephemeral ports contains 4791: a program that is given this port loses its packets to the adapter, and Soft-RoCE cannot start",
    "sysctl net.ipv4.ip_local_reserved_ports=4791",
    "procfs sys/net/ipv4/ip_local_port_range, ip_local_reserved_ports",
    "UDP port 4791 is not reserved for RoCE: {}"};
extern const Check kernel_hazards{"kernel_hazards", kSetting,
    "The kernel is free of known RDMA hazards",
    "Reading RDMA resources can crash this kernel, or is not known to be safe",
    "Update the kernel; until then leave --collector.resource.detail at auto",
    "procfs sys/kernel/osrelease, sys/kernel/version; sysfs module/ib_core/taint",
    "reading RDMA resources may crash this kernel: {}"};
extern const Check locked_memory{"locked_memory", kCaller,
    "Locked memory is not limited",
    "RDMA memory is locked: a program under this limit fails with ENOMEM when it registers a large buffer. Each service has its own limit",
    "ulimit -l unlimited (limits.d: memlock), systemd LimitMEMLOCK=infinity, container --ulimit memlock=-1",
    "procfs self/limits",
    "locked memory is limited: {}"};
extern const Check device_files{"device_files", kCaller,
    "Users may open the RDMA device files",
    "Without access to them no program can use the device: ib_uverbs is not loaded, a container was not given them, or only root may open them",
    "modprobe ib_uverbs rdma_ucm; udev rules of rdma-core (mode 0666); container --device=/dev/infiniband",
    "/dev/infiniband",
    "users cannot open the RDMA device files: {}"};

}  // namespace check
// clang-format on

std::span<const Check* const> all_checks() {
  using namespace check;
  static constexpr std::array kAll{&device_present,
                                   &driver_bound,
                                   &firmware,
                                   &software_roce,
                                   &port_state,
                                   &link_layer,
                                   &link_speed,
                                   &link_width,
                                   &pcie_link,
                                   &pcie_bandwidth,
                                   &numa_node,
                                   &irq_affinity,
                                   &netdev_mtu,
                                   &rdma_mtu,
                                   &roce_gids,
                                   &rings,
                                   &pfc,
                                   &global_pause,
                                   &roce_priority,
                                   &probe_priority,
                                   &traffic_class,
                                   &ecn,
                                   &discards,
                                   &receive_buffers,
                                   &pause_frames,
                                   &retries,
                                   &link_errors,
                                   &pcie_errors,
                                   &health,
                                   &firmware_update,
                                   &module,
                                   &resource_limits,
                                   &netns,
                                   &udp_port,
                                   &kernel_hazards,
                                   &locked_memory,
                                   &device_files};
  return kAll;
}

}  // namespace rdma_exporter::doctor
