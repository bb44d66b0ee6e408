// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/fec_code.h"

namespace rdma_exporter::host {
namespace {

constexpr double kGigabit = 1e9 / 8;
constexpr double kSymbolBits = 10;
constexpr double kBitsPerByte = 8;

// 25 Gbit/s on NRZ lanes: 64b/66b of 25.78 Gbit/s, which the code's parity fits into. Limit: clause 95.
constexpr FecCode kRs528{5e-5, 528 * kSymbolBits / kBitsPerByte, 66.0 / 64};
// PAM4 lanes: 26.5625 Gbaud for 50 Gbit/s. Limit: clause 136.1.
constexpr FecCode kRs544{2.4e-4, 544 * kSymbolBits / kBitsPerByte, 53.125 / 50};

}  // namespace

std::optional<FecCode> fec_code(std::string_view mode, double speed, std::optional<std::uint32_t> lanes) {
  if (mode != "rs" || speed <= 0) return std::nullopt;
  constexpr double kFastestNrzLane = 30 * kGigabit;
  constexpr double kAlwaysPam4 = 200 * kGigabit;
  if (lanes && *lanes > 0) return speed / *lanes > kFastestNrzLane ? kRs544 : kRs528;
  if (speed >= kAlwaysPam4) return kRs544;
  if (speed <= kFastestNrzLane) return kRs528;
  return std::nullopt;
}

}  // namespace rdma_exporter::host
