// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::host {

/// Whether this process is in the first network namespace, that of the host. The kernel has
/// /proc/sys/net/core/netdev_max_backlog for that one only (net/core/sysctl_net_core.c: net_core_table).
bool in_first_network_namespace(HostFs& procfs);

/// Whether the device that sysfs shows is the real one because both this process and the mount of sysfs
/// belong to the first network namespace: where all namespaces see all RDMA devices, the real ones are there
/// and the others have stand-ins (core/device.c add_one_compat_dev). The mount may belong to another
/// namespace than the process (`nsenter --net`), so an interface of the device's function has to be there by
/// both: in sysfs, and by its address on the bus (ETHTOOL_GDRVINFO, which waits for the RTNL lock). False if
/// that cannot be told, as for a device without such an interface.
bool is_of_first_network_namespace(Host& host, const Device& device);

}  // namespace rdma_exporter::host
