// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/text/number_list.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/dcb.h"
#include "host/topology/driver.h"
#include "host/topology/gid_table.h"
#include "host/topology/netdev.h"
#include "host/verbs/device_nodes.h"
#include "host/verbs/verbs.h"

// What the checks go by: plain data, read once through the seams of the host (gather.h), so that a check is a
// pure function and works on a running host as on a recording.
namespace rdma_exporter::doctor {

/// What was read, or why it could not be.
template <typename T>
using Fact = core::Result<T>;

/// A fact that nobody has read yet, or that does not exist here.
inline tl::unexpected<core::Error> unread() { return core::os_error(ENODATA); }

/// True when there is no such thing here: no file, no such operation in the driver.
inline bool is_absent(const core::Error& error) {
  return core::is_errno(error, ENOENT) || core::is_errno(error, ENODATA) ||
         core::is_errno(error, EOPNOTSUPP) || core::is_errno(error, ENOTDIR);
}

/// One end of a PCIe link. What a conventional or virtual function does not say is nullopt.
struct PcieEnd {
  std::string address;
  std::optional<double> speed;  ///< transfers per second and lane
  std::optional<double> max_speed;
  std::optional<std::uint32_t> width;  ///< lanes
  std::optional<std::uint32_t> max_width;
};

/// A link on the path from the adapter to the root complex.
struct PcieLink {
  PcieEnd below;                 ///< adapter, or upstream port of a switch
  std::optional<PcieEnd> above;  ///< root port, or downstream port of a switch; not always visible
};

/// An interrupt vector of the adapter.
struct Vector {
  std::uint32_t irq = 0;
  core::NumberList cpus;  ///< that it may go to
};

/// The PCI function of a device.
struct PciFacts {
  std::string address;
  bool is_vf = false;
  std::vector<PcieLink> links;              ///< from the adapter up; of the physical function for a VF
  Fact<std::int64_t> numa_node = unread();  ///< -1: the firmware does not tell
  Fact<core::NumberList> local_cpus = unread();
  Fact<std::vector<Vector>> vectors = unread();  ///< none where the driver uses no MSI
};

/// Which traffic class RoCE packets carry, where something sets it: DSCP x 4 + ECN.
struct TrafficClass {
  std::uint32_t value = 0;
  std::string set_by;  ///< where it was read
};

/// A GID and the interface that has its address.
struct GidFacts {
  host::Gid gid;
  std::string netdev;
};

/// A port of a device.
struct PortFacts {
  std::uint32_t number = 0;
  std::string link_layer;  ///< "Ethernet", "InfiniBand", "Unknown"
  Fact<std::uint32_t> state = unread();
  Fact<std::uint32_t> physical_state = unread();
  Fact<double> rate = unread();  ///< bytes per second
  Fact<std::uint32_t> lanes = unread();
  Fact<host::PortMtu> mtu = unread();
  Fact<std::vector<GidFacts>> gids = unread();
  std::optional<TrafficClass> traffic_class;
  bool has_counters = false;  ///< a directory of counters is there
};

/// An address of a network interface.
struct AddressFacts {
  std::string text;
  std::string gid;  ///< that RoCE makes of it
};

/// Whether ECN is on for a priority; MLNX_OFED only.
struct EcnFacts {
  std::string role;  ///< "np": tells senders of marked packets; "rp": slows down when told
  std::uint32_t priority = 0;
  bool enabled = false;
};

/// A network interface behind a port.
struct NetdevFacts {
  std::string name;
  host::NetdevRole role = host::NetdevRole::port;
  std::uint32_t port = 0;
  std::string driver;
  bool is_software = false;  ///< veth, dummy, bridge: nothing with wires
  Fact<std::uint64_t> mtu = unread();
  Fact<bool> admin_up = unread();
  Fact<std::vector<AddressFacts>> addresses = unread();  ///< without link-local ones
  Fact<host::dcb::Ieee> dcb = unread();
  Fact<host::genl_ethtool::Pause> pause = unread();
  Fact<host::genl_ethtool::Rings> rings = unread();
  Fact<std::optional<double>> speed = unread();         ///< bytes per second
  Fact<std::optional<double>> fastest_mode = unread();  ///< bytes per second
  Fact<std::vector<EcnFacts>> ecn = unread();
};

/// How many objects of a kind a device has, of how many.
struct ResourceFacts {
  std::string type;  ///< "qp", "mr"
  std::uint64_t current = 0;
  std::optional<std::uint64_t> limit;
};

/// An RDMA device.
struct DeviceFacts {
  std::string name;
  std::string driver;  ///< of the PCI function; "rxe", "siw" of a software device
  host::Driver family = host::Driver::unknown;
  std::string protocol;  ///< "roce", "ib", "iw", "opa"; empty: not known
  std::string firmware;
  std::string board_id;
  std::optional<PciFacts> pci;  ///< nullopt: software, or no PCI device
  std::vector<PortFacts> ports;
  std::vector<NetdevFacts> netdevs;
  Fact<std::vector<ResourceFacts>> resources = unread();

  bool is_software() const { return family == host::Driver::rxe || family == host::Driver::siw; }
};

/// A network adapter on the PCI bus that may be an RDMA device.
struct AdapterFacts {
  std::string address;
  std::string driver;  ///< empty: none is bound
  bool is_vf = false;
  bool for_rdma = false;  ///< of a kind that nobody has without RDMA in mind
  bool has_device = false;
};

/// The host as a whole.
struct SystemFacts {
  Fact<std::string> host_name = unread();
  Fact<std::string> kernel_release = unread();
  Fact<std::string> kernel_version = unread();
  bool foreign_core = false;  ///< ib_core was built apart from the kernel
  Fact<std::uint64_t> numa_nodes = unread();
  Fact<std::optional<std::uint64_t>> locked_memory = unread();  ///< bytes; nullopt inside: unlimited
  Fact<std::vector<host::DeviceNode>> nodes = unread();
  Fact<std::optional<bool>> shared_namespaces = unread();
  Fact<std::pair<std::uint32_t, std::uint32_t>> local_ports = unread();  ///< first and last
  Fact<core::NumberList> reserved_ports = unread();
  std::vector<AdapterFacts> adapters;
};

/// A counter of the exporter's, at two times.
struct CounterFacts {
  std::string metric;  ///< family: "rdma_port_ack_timeouts_total"
  std::string labels;  ///< as on the page
  std::string device;
  std::string port;
  std::string netdev;
  double total = 0;             ///< since the driver was loaded, mostly since boot
  std::optional<double> moved;  ///< during the sample; nullopt: it was not there at both times
};

struct Facts {
  SystemFacts system;
  std::vector<DeviceFacts> devices;
  bool devices_listed = true;  ///< false: the list itself did not come in time
  /// Names of devices that did not answer in time; nothing of them is in `devices`.
  std::vector<std::string> silent_devices;
  std::vector<CounterFacts> counters;
  double sample_seconds = 0;
};

}  // namespace rdma_exporter::doctor
