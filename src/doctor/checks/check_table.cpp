// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "doctor/checks/check_table.h"

#include <array>

namespace rdma_exporter::doctor {

// clang-format off
namespace check {

constexpr CheckKind kSetting = CheckKind::configuration;
constexpr CheckKind kCounted = CheckKind::counters;
constexpr CheckKind kCaller = CheckKind::caller;

// extern: a constant of a namespace is local to its file otherwise.
extern const Check device_present{"device_present", kSetting,
    "Every RDMA adapter has its RDMA device",
    "An adapter has a network driver but no RDMA device, or there is no RDMA device at all: programs use TCP, or fail",
    "Load the RDMA driver (mlx5_ib, bnxt_re, irdma); read dmesg for why it did not make a device",
    "sysfs bus/pci/devices, class/infiniband"};
extern const Check driver_bound{"driver_bound", kSetting,
    "Every RDMA adapter has a driver",
    "An adapter is on the PCI bus and no driver took it: it may have failed its start",
    "Read dmesg for the PCI address; load the driver; a cold start after a firmware update",
    "sysfs bus/pci/devices/*/driver"};
extern const Check firmware{"firmware", kSetting,
    "Cards of one model have one firmware",
    "Cards of one model (board_id) run different firmware: they behave differently under congestion, and one may lack "
    "a fix",
    "Bring the cards to the same version; a version that was burnt is active after a reset of the card only",
    "sysfs fw_ver, board_id"};
extern const Check software_roce{"software_roce", kSetting,
    "No Soft-RoCE beside hardware",
    "A software device (rxe, siw) exists on a host with RDMA hardware: a program that takes the first device it finds "
    "runs at a fraction of the speed",
    "rdma link delete it, or give programs the device's name",
    "sysfs class/infiniband"};
extern const Check port_state{"port_state", kSetting,
    "Every port is ACTIVE",
    "No traffic goes through the port. DOWN: no link. INIT: InfiniBand waits for its subnet manager, iWARP for an IPv4 "
    "address. ARMED: the subnet manager has not finished",
    "Cable, transceiver, the switch's port; ip link set dev up; InfiniBand: is a subnet manager running? A port that "
    "is not meant to be used: --device.exclude, or ip link set dev down",
    "sysfs ports/N/state, phys_state; RDMA netlink PORT_GET"};
extern const Check link_layer{"link_layer", kSetting,
    "Ports of one model of card speak the same link layer",
    "Of cards that can do both, one port is InfiniBand and another one Ethernet: usually one was never configured",
    "Set the port's type in the firmware (mlxconfig LINK_TYPE_P1) and reset the card",
    "sysfs ports/N/link_layer"};
extern const Check link_speed{"link_speed", kSetting,
    "The link runs at the fastest speed that it supports",
    "The port came up slower than it can, or slower than its sister ports: the slowest rank slows a whole job",
    "Cable and transceiver of that speed? Speed and FEC of the switch's port; autonegotiation; then replace the cable",
    "ethtool LINKMODES_GET; sysfs ports/N/rate"};
extern const Check link_width{"link_width", kSetting,
    "The InfiniBand link has all its lanes",
    "The link came up with fewer lanes than its sister ports, or with one: a lane is broken",
    "Reseat, then replace the cable; try another port of the switch",
    "sysfs ports/N/rate"};
extern const Check pcie_link{"pcie_link", kSetting,
    "Each PCIe link runs at what both of its ends can do",
    "A link between the adapter and the processor trained slower or narrower than both of its ends can: bandwidth is "
    "lost and the adapter sends pause frames",
    "Reseat the card or the riser; another slot; BIOS settings of the slot (speed, bifurcation)",
    "sysfs current_link_speed, max_link_speed, current_link_width, max_link_width along the path"};
extern const Check pcie_bandwidth{"pcie_bandwidth", kSetting,
    "The path to the processor carries the port's rate",
    "The narrowest PCIe link on the path is slower than the network port: the host cannot take what the network brings",
    "Another slot: more lanes, a newer generation; see pcie_link",
    "sysfs current_link_speed, current_link_width along the path; ports/N/rate"};
extern const Check numa_node{"numa_node", kSetting,
    "The adapter's NUMA node is known",
    "The host has several memory nodes and the firmware does not say to which one the adapter belongs: nobody can "
    "place memory, threads and interrupts near it",
    "BIOS: ACPI tables for NUMA (SRAT, SLIT); sub-NUMA clustering; in a virtual machine: pass the topology on",
    "sysfs numa_node of the PCI function, devices/system/node/online"};
extern const Check irq_affinity{"irq_affinity", kSetting,
    "Interrupts go to processors of the adapter's node",
    "Most interrupt vectors of the adapter that could be served nearby go to processors of another node only: latency, "
    "and traffic between the processors",
    "Stop or configure irqbalance; set_irq_affinity of the vendor's tools; taskset of the application on that node",
    "sysfs msi_irqs, local_cpulist of the PCI function; procfs irq/N/effective_affinity_list, smp_affinity_list"};
extern const Check netdev_mtu{"netdev_mtu", kSetting,
    "The interface's MTU is 4200 or more",
    "An RDMA path MTU of 4096 does not fit: with 1500 it is 1024, four times as many packets",
    "ip link set dev NETDEV mtu 9000, on all hosts and switch ports of the fabric",
    "sysfs mtu of the interface"};
extern const Check rdma_mtu{"rdma_mtu", kSetting,
    "The port's RDMA MTU is its maximum",
    "Packets are smaller than the adapter could send; a peer with a larger one may fail to connect",
    "RoCE: raise the interface's MTU on both ends. InfiniBand: the subnet manager decides (partitions.conf, mtu=5)",
    "ibv_query_port active_mtu, max_mtu"};
extern const Check roce_gids{"roce_gids", kSetting,
    "Each address of the interface has a RoCE v2 GID",
    "Connections from or to that address fail (no route, invalid GID index) although IP works",
    "Take the address away and add it again; is the interface up? IPv6 disabled? Restart of the driver",
    "sysfs ports/N/gids, gid_attrs; rtnetlink RTM_GETADDR"};
extern const Check rings{"rings", kSetting,
    "Receive and transmit rings are not small",
    "Rings below 1024 descriptors though the adapter can do more: bursts of ordinary traffic on the same interface "
    "are dropped",
    "ethtool -G NETDEV rx 8192 tx 8192, within what ethtool -g shows",
    "ethtool RINGS_GET"};
extern const Check pfc{"pfc", kSetting,
    "PFC is on for exactly one priority",
    "None: RoCE loses packets under congestion unless the fabric is built to be lossy. Several: traffic classes block "
    "each other, buffers do not suffice for headroom",
    "dcb pfc set dev NETDEV prio-pfc all:off 3:on (or the fabric's priority), the same on the switch",
    "rtnetlink DCB ieee_pfc"};
extern const Check global_pause{"global_pause", kSetting,
    "Global pause is off",
    "802.3x pause stops all traffic of the port, storage and management too, and excludes PFC",
    "ethtool -A NETDEV rx off tx off, also on the switch's port",
    "ethtool PAUSE_GET"};
extern const Check roce_priority{"roce_priority", kSetting,
    "RoCE traffic goes to the lossless priority",
    "RoCE packets are sent with a DSCP, or without VLAN tag, that maps to a priority without PFC: PFC is on and "
    "protects nothing",
    "Trust DSCP: dcb app add dev NETDEV dscp-prio 26:3; the same DSCP in the application (NCCL_IB_TC=104), rdma_cm "
    "(cma_roce_tos) and on the switch",
    "rtnetlink DCB ieee_pfc, IEEE_APP_TABLE; sysfs tc/N/traffic_class; configfs rdma_cm default_roce_tos"};
extern const Check traffic_class{"traffic_class", kSetting,
    "The lossless priority has a traffic class of its own",
    "The lossless priority shares its transmission queue with another one: a pause stops both",
    "dcb ets set dev NETDEV prio-tc 3:3, with a share of the bandwidth for it",
    "rtnetlink DCB ieee_ets"};
extern const Check ecn{"ecn", kSetting,
    "Congestion control by ECN (DCQCN) is on for the lossless priority",
    "Senders are not slowed down by marks: congestion is held by PFC alone and spreads through the fabric",
    "echo 1 >/sys/class/net/NETDEV/ecn/roce_np/enable/3, the same for roce_rp; ECN on the switch",
    "sysfs ecn/roce_np/enable/N, ecn/roce_rp/enable/N of the interface (MLNX_OFED)"};
extern const Check discards{"discards", kCounted,
    "No packets are discarded by the port",
    "The host did not take packets in time, or the port dropped them: RoCE retransmits, everybody waits",
    "PCIe (pcie_link, pcie_bandwidth), PFC (pfc, roce_priority), rings; which priority: rdma_priority_discards_total",
    "ethtool -S; ports/N/counters"};
extern const Check receive_buffers{"receive_buffers", kCounted,
    "Receivers have posted buffers",
    "Packets came for queue pairs without a posted receive: the sender waits and tries again (RNR)",
    "The receiving application: more receive requests, a larger shared receive queue; is a process stuck?",
    "ports/N/hw_counters"};
extern const Check pause_frames{"pause_frames", kCounted,
    "Nobody is being paused",
    "tx: this host is too slow and stops its peers, a storm when it lasts. rx: the fabric or a peer stops this host",
    "tx: PCIe, NUMA, receive_buffers of this host. rx: find the host that sends pause; ECN thresholds of the switch",
    "ethtool -S; DCB; ethtool PAUSE_GET"};
extern const Check retries{"retries", kCounted,
    "No retransmissions",
    "Packets were lost or came out of order; with retries exceeded a connection has died",
    "discards and pause_frames on both ends; drops on the switch; load balancing that reorders",
    "ports/N/hw_counters"};
extern const Check link_errors{"link_errors", kCounted,
    "The physical link has no errors",
    "Symbol errors, frames with a wrong checksum or blocks that FEC could not correct: the cable or a transceiver",
    "Clean, reseat, replace: cable, transceiver, the switch's port",
    "ports/N/counters; ethtool FEC_GET, STATS_GET; ethtool -S"};
extern const Check resource_limits{"resource_limits", kSetting,
    "The device has objects left",
    "More than 80 % of the queue pairs, completion queues or memory regions of the device are in use (critical: 95 %): "
    "new connections fail with ENOMEM",
    "Who has them: rdma_resource_owner_qps, rdma_resource_owner_mrs; a leak is a number that only grows",
    "RDMA netlink RES_GET; ibv_query_device"};
extern const Check netns{"netns", kSetting,
    "The device belongs to this network namespace",
    "The device is seen from a network namespace that does not own it: its counters are hidden, and on some kernels "
    "reading them crashes the host",
    "Run the exporter in the host's network namespace (hostNetwork)",
    "RDMA netlink SYS_GET; sysfs ports/N/hw_counters"};
extern const Check udp_port{"udp_port", kSetting,
    "UDP port 4791 is kept for RoCE v2",
    "The range of ports that programs get by chance contains 4791: a program that gets it loses its packets to the "
    "adapter, and Soft-RoCE cannot start",
    "sysctl net.ipv4.ip_local_reserved_ports=4791",
    "procfs sys/net/ipv4/ip_local_port_range, ip_local_reserved_ports"};
extern const Check kernel_hazards{"kernel_hazards", kSetting,
    "The kernel is free of known RDMA hazards",
    "Reading RDMA resources can crash this kernel, or nobody knows that it cannot",
    "Update the kernel; until then leave --collector.resource.detail at auto",
    "procfs sys/kernel/osrelease, sys/kernel/version; sysfs module/ib_core/taint"};
extern const Check locked_memory{"locked_memory", kCaller,
    "Memory may be locked without limit",
    "RDMA memory is locked; a program under this limit fails with ENOMEM when it registers a large buffer. A service "
    "has a limit of its own",
    "ulimit -l unlimited (limits.d: memlock), systemd LimitMEMLOCK=infinity, container --ulimit memlock=-1",
    "procfs self/limits"};
extern const Check device_files{"device_files", kCaller,
    "Users may open the RDMA device files",
    "Without them no program can use the device: ib_uverbs is not loaded, a container was not given them, or they are "
    "for root",
    "modprobe ib_uverbs rdma_ucm; udev rules of rdma-core (mode 0666); container --device=/dev/infiniband",
    "/dev/infiniband"};

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
                                   &traffic_class,
                                   &ecn,
                                   &discards,
                                   &receive_buffers,
                                   &pause_frames,
                                   &retries,
                                   &link_errors,
                                   &resource_limits,
                                   &netns,
                                   &udp_port,
                                   &kernel_hazards,
                                   &locked_memory,
                                   &device_files};
  return kAll;
}

}  // namespace rdma_exporter::doctor
