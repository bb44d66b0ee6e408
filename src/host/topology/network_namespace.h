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
/// namespace than the process (`nsenter --net`). An interface is in one namespace only, so as many interfaces
/// of the device's function as it has ports have to be in both: in sysfs, and by name and bus address
/// (ETHTOOL_GDRVINFO, which waits for the RTNL lock) where the process is. False if that cannot be told.
bool is_of_first_network_namespace(Host& host, const Device& device);

}  // namespace rdma_exporter::host
