// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// What ethtool reports about an Ethernet link: why it is down, its error correction code, its fastest mode.
namespace rdma_exporter::host {

/// A Reed-Solomon code of Ethernet (IEEE 802.3).
struct FecCode {
  double bit_error_limit;       ///< ratio of wrong bits before correction that a link may have
  double codeword_bytes;        ///< with its parity
  double line_rate_over_speed;  ///< what the code and the line coding before it add
};

/// The code of a link with this mode (genl_ethtool::Fec), speed in bytes per second and number of lanes.
/// ethtool calls two codes "rs": RS(528,514) on lanes of 25 Gbit/s (clause 91) and RS(544,514) on faster ones
/// (clause 119). nullopt for other modes, and if the number of lanes is unknown and the speed is 50 or 100
/// Gbit/s, which exist with both.
std::optional<FecCode> fec_code(std::string_view mode, double speed, std::optional<std::uint32_t> lanes);

// Words for why an interface has no link (include/uapi/linux/ethtool.h ETHTOOL_LINK_EXT_STATE_*).

/// "no_cable", "bad_signal_integrity"; "other" for a state that the headers of Linux 6.1 do not have.
std::string_view link_extended_state(std::uint8_t state);

/// Details of the state; "other" for an unknown one, empty for 0 (no details).
std::string_view link_extended_substate(std::uint8_t state, std::uint8_t substate);

}  // namespace rdma_exporter::host

// The speeds of a network interface, from ethtool's netlink (LINKMODES_GET; see genl_ethtool.h). The request
// asks for the names of link modes, so that modes newer than this program are understood.
namespace rdma_exporter::host::genl_ethtool {

std::vector<std::byte> supported_modes_request(std::string_view netdev);

/// The fastest mode that the interface supports with the present module or cable, in bytes per second;
/// nullopt if the driver lists none with a speed.
core::Result<std::optional<double>> parse_fastest_mode(Bytes payload);

}  // namespace rdma_exporter::host::genl_ethtool
