// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace rdma_exporter::host
