// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How network interfaces belong to PCI functions and to each other, as sysfs shows it. `netdev` is an
// interface's name; what cannot be read is taken for absent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/fs/host_fs.h"

namespace rdma_exporter::host {

/// Whether the interface has no device of its own: bond, VLAN, macvlan, veth, dummy.
bool is_software_netdev(HostFs& sysfs, const std::string& netdev);

/// Whether it is a bond (drivers/net/bonding).
bool is_bond(HostFs& sysfs, const std::string& netdev);

/// The bond it is a member of; empty if none.
std::string bond_of(HostFs& sysfs, const std::string& netdev);

/// The interfaces it is stacked upon (net/core/dev.c, links lower_*): a bond's members, a VLAN's device.
std::vector<std::string> lower_netdevs(HostFs& sysfs, const std::string& netdev);

/// The interfaces of the physical function whose virtual function this one is, those with the same dev_port;
/// empty if it is none or the physical function is not in this system (a virtual machine).
std::vector<std::string> physical_netdevs(HostFs& sysfs, const std::string& netdev);

/// The interface below the PCI function of the RDMA device at `device_path` whose dev_port is that of `port`
/// (counted from 1); empty if none. IPoIB, and adapters of which several ports share a function.
std::string netdev_of_port(HostFs& sysfs, const std::string& device_path, std::uint32_t port);

/// The interface of the port's first GID, which is that of the interface itself (those of its VLANs follow);
/// empty if none. `port_path`: "class/infiniband/mlx5_0/ports/1".
std::string netdev_of_first_gid(HostFs& sysfs, const std::string& port_path);

/// Whether it stands in the host for another function (switchdev mode, VF, SF or host representor): it has no
/// statistics of a wire, and on the function's side they exist under their own name. Told by a switch's
/// identity together with a phys_port_name other than that of an uplink, "p0", "p1s2" (net/core/devlink).
bool is_representor(HostFs& sysfs, const std::string& netdev);

}  // namespace rdma_exporter::host
