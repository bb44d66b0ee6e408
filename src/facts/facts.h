// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/text/number_list.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/dcb.h"
#include "host/topology/driver.h"
#include "host/topology/gid_table.h"
#include "host/topology/netdev.h"
#include "host/verbs/verbs.h"

// The facts that the checks use: plain data, read once through the seams of the host (gather.h), so that a
// check is a pure function and works on a running host as well as on a recording.
namespace rdma_exporter::facts {

/// A value, or why it could not be read.
template <typename T>
using Fact = core::Result<T>;

/// A fact that nobody has read yet or that does not exist here.
inline tl::unexpected<core::Error> unread() { return core::os_error(ENODATA); }

/// True if it does not exist here: no such file, or no such operation in the driver.
inline bool is_absent(const core::Error& error) {
  return core::is_errno(error, ENOENT) || core::is_errno(error, ENODATA) ||
         core::is_errno(error, EOPNOTSUPP) || core::is_errno(error, ENOTDIR);
}

/// One end of a PCIe link. nullopt for what a conventional or virtual function does not report.
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
  core::NumberList cpus;  ///< processors that may handle it
};

/// The PCI function of a device.
struct PciFacts {
  std::string address;
  bool is_vf = false;
  std::vector<PcieLink> links;              ///< from the adapter up; of the physical function for a VF
  Fact<std::int64_t> numa_node = unread();  ///< -1: the firmware does not report it
  Fact<core::NumberList> local_cpus = unread();
  Fact<std::vector<Vector>> vectors = unread();  ///< none if the driver does not use MSI
};

/// The traffic class of RoCE packets, if something sets it: DSCP x 4 + ECN.
struct TrafficClass {
  std::uint32_t value = 0;
  std::string set_by;  ///< where it was read
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
  Fact<host::GidList> gids = unread();
  std::vector<std::string> gid_netdevs;  ///< interfaces that have these GIDs
  std::optional<TrafficClass> traffic_class;
  bool has_counters = false;  ///< a directory of counters exists
};

/// An address of a network interface.
struct AddressFacts {
  std::string text;
  std::string gid;  ///< the GID that RoCE derives from it
};

/// Whether ECN is on for a priority; MLNX_OFED only.
struct EcnFacts {
  std::string role;  ///< "np": notifies the senders of marked packets; "rp": slows down when notified
  std::uint32_t priority = 0;
  bool enabled = false;
};

/// A network interface behind a port.
struct NetdevFacts {
  std::string name;
  host::NetdevRole role = host::NetdevRole::port;
  std::uint32_t port = 0;
  std::string driver;
  bool is_software = false;  ///< veth, dummy, bridge: nothing with a wire
  Fact<std::uint64_t> mtu = unread();
  Fact<bool> admin_up = unread();
  Fact<std::vector<AddressFacts>> addresses = unread();  ///< without link-local ones
  Fact<std::shared_ptr<const host::dcb::Ieee>> dcb = unread();
  Fact<host::genl_ethtool::Pause> pause = unread();
  Fact<host::genl_ethtool::Rings> rings = unread();
  Fact<std::optional<double>> speed = unread();         ///< bytes per second
  Fact<std::optional<double>> fastest_mode = unread();  ///< bytes per second
  Fact<std::vector<EcnFacts>> ecn = unread();
};

/// Number and limit of a kind of objects of a device.
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
  std::shared_ptr<const PciFacts> pci;  ///< null: software, or no PCI device
  std::vector<PortFacts> ports;
  std::vector<NetdevFacts> netdevs;
  Fact<std::vector<ResourceFacts>> resources = unread();

  bool is_software() const { return family == host::Driver::rxe || family == host::Driver::siw; }
};

/// Devices, wherever their facts are kept.
using DeviceRefs = std::vector<std::reference_wrapper<const DeviceFacts>>;

/// A network adapter on the PCI bus that may be an RDMA device.
struct AdapterFacts {
  std::string address;
  std::string driver;  ///< empty: none is bound
  bool is_vf = false;
  bool for_rdma = false;  ///< a kind of adapter that is only used for RDMA
  bool has_device = false;
};

/// The host as a whole.
struct SystemFacts {
  Fact<std::string> host_name = unread();
  Fact<std::string> kernel_release = unread();
  Fact<std::string> kernel_version = unread();
  bool out_of_tree_core = false;  ///< ib_core was built separately from the kernel
  Fact<std::uint64_t> numa_nodes = unread();
  Fact<std::optional<std::uint64_t>> locked_memory = unread();  ///< bytes; nullopt inside: unlimited
  Fact<std::vector<host::DeviceNode>> nodes = unread();
  Fact<std::optional<bool>> shared_namespaces = unread();
  Fact<std::pair<std::uint32_t, std::uint32_t>> local_ports = unread();  ///< first and last
  Fact<core::NumberList> reserved_ports = unread();
  std::vector<AdapterFacts> adapters;
};

/// Whether a PCI function with this driver is passed through to a virtual machine or a program in user space.
inline bool is_passed_through(std::string_view driver) {
  return driver == "vfio-pci" || driver == "uio_pci_generic";
}

}  // namespace rdma_exporter::facts
