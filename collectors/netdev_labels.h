// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/labels.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

/// `device="mlx5_0",port="1",netdev="eth0"`: the labels in front of all series of a network interface. Device
/// and port are those of the RDMA port whose wire it carries.
inline core::SharedText netdev_labels(const host::Netdev& netdev) {
  return core::shared_labels(
      {{"device", netdev.device}, {"port", std::to_string(netdev.port)}, {"netdev", netdev.name}});
}

}  // namespace rdma_exporter::collectors
