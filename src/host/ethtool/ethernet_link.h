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

// What ethtool tells of an Ethernet link: why there is none, its code, its fastest mode.
namespace rdma_exporter::host {

/// A Reed-Solomon code of Ethernet (IEEE 802.3).
struct FecCode {
  double bit_error_limit;       ///< ratio of wrong bits before correction that a link may have
  double codeword_bytes;        ///< with its parity
  double line_rate_over_speed;  ///< what the code and the line coding before it add
};

/// The code of a link with that mode of genl_ethtool::Fec, of `speed` bytes per second over so many lanes.
/// ethtool calls both codes "rs": lanes of 25 Gbit/s have RS(528,514) (clause 91), faster ones RS(544,514)
/// (clause 119). nullopt for other modes, and where 50 and 100 Gbit/s may be either because lanes are not
/// known.
std::optional<FecCode> fec_code(std::string_view mode, double speed, std::optional<std::uint32_t> lanes);

// Words for why an interface has no link (include/uapi/linux/ethtool.h ETHTOOL_LINK_EXT_STATE_*).

/// "no_cable", "bad_signal_integrity"; "other" for a state that the headers of Linux 6.1 do not have.
std::string_view link_extended_state(std::uint8_t state);

/// What the state says in more detail, "other" for an unknown one, empty for 0 (no more detail).
std::string_view link_extended_substate(std::uint8_t state, std::uint8_t substate);

}  // namespace rdma_exporter::host

// Which speeds a network interface can do, by ethtool's netlink (LINKMODES_GET; see genl_ethtool.h). The
// kernel is asked for the names of the link modes, so that a mode newer than this program is understood too.
namespace rdma_exporter::host::genl_ethtool {

std::vector<std::byte> supported_modes_request(std::string_view netdev);

/// The fastest mode that the interface supports with what is plugged in, in bytes per second; nullopt when
/// the driver lists none with a speed.
core::Result<std::optional<double>> parse_fastest_mode(Bytes payload);

}  // namespace rdma_exporter::host::genl_ethtool
