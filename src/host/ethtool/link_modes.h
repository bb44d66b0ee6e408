// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Which speeds a network interface can do, by ethtool's netlink (LINKMODES_GET; see genl_ethtool.h). The
// kernel is asked for the names of the link modes, so that a mode newer than this program is understood too.
namespace rdma_exporter::host::genl_ethtool {

std::vector<std::byte> supported_modes_request(std::string_view netdev);

/// The fastest mode that the interface supports with what is plugged in, in bytes per second; nullopt when
/// the driver lists none with a speed.
core::Result<std::optional<double>> parse_fastest_mode(Bytes payload);

}  // namespace rdma_exporter::host::genl_ethtool
