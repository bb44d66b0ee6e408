// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/fs/host_fs.h"
#include "host/netlink/netlink.h"

// Requests and answers of the generic netlink family devlink (include/uapi/linux/devlink.h): health
// reporters, firmware versions and ports of an adapter. Pure functions from and to bytes, but for
// find_handle(); a payload begins with struct genlmsghdr. None of these requests needs a privilege, none
// changes anything. All wait for the lock of the instance, which a driver holds while it reloads or writes
// flash: minutes.
namespace rdma_exporter::host::devlink {

/// An instance, as in "pci/0000:3b:00.0".
struct Handle {
  std::string bus;
  std::string device;
  std::string text() const { return bus + "/" + device; }
  bool operator==(const Handle&) const = default;
};

/// The instance that the device at `path` below sysfs (class/infiniband/X/device, class/net/X/device) would
/// have; nullopt if there is no device. Only devlink knows whether the instance exists.
std::optional<Handle> find_handle(HostFs& sysfs, const std::string& path);

/// For generic_netlink::find_family().
inline constexpr std::string_view kFamily = "devlink";

/// For a dump of the health reporters, and of the ports. Kernels before 6.5 do not look at the handle and
/// send those of all instances. ENODEV: no such instance.
std::vector<std::byte> reporters_request(const Handle& handle);
std::vector<std::byte> ports_request(const Handle& handle);
/// One request, one answer. The firmware is asked: a few register accesses or commands.
std::vector<std::byte> info_request(const Handle& handle);

/// A health reporter: a part of the driver that watches a part of the adapter (net/devlink/health.c).
struct Reporter {
  Handle handle;
  std::optional<std::uint32_t> port_index;  ///< of a port's reporter
  std::string name;                         ///< "fw", "fw_fatal", "tx"
  bool in_error = false;
  std::optional<std::uint64_t> errors;
  std::optional<std::uint64_t> recoveries;
  std::optional<std::uint64_t> dump_time_ns;  ///< since 1970, of the dump that is stored
};
core::Result<Reporter> parse_reporter(Bytes payload);

/// A port (net/devlink/port.c).
struct Port {
  Handle handle;
  std::uint32_t index = 0;
  std::string netdev;  ///< empty: none, or not Ethernet
  std::string_view
      flavour;  ///< "physical", "pci_pf", "pci_vf", "virtual", ...; "other" for one without a name
  std::optional<std::uint32_t> number;  ///< mlx5: of the physical function, not of the cage
};
core::Result<Port> parse_port(Bytes payload);

/// Versions of one component: fixed ones are in neither.
struct Version {
  std::string component;  ///< "fw", "fw.version", "fw.undi"
  std::string running;    ///< empty: not told
  std::string stored;     ///< in flash, in use from the next reset on; empty: not told
};
/// In the order of the answer (net/devlink/dev.c devlink_nl_info_fill).
core::Result<std::vector<Version>> parse_info(Bytes payload);

/// An answer without serial numbers; every other message as it is.
std::vector<std::byte> without_serials(Bytes payload);

}  // namespace rdma_exporter::host::devlink
