// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace rdma_exporter::probe {

/// What bringing a connection about consists of, one after the other.
enum class ConnectStep : unsigned char {
  tcp,       ///< the peer's name, and the TCP connection to it
  auth,      ///< TLS
  exchange,  ///< both ends' queue pairs are made, and the peer's is connected
  modify,    ///< the own end is connected; the kernel resolves the neighbour
};
inline constexpr std::array<std::string_view, 4> kConnectSteps{"tcp", "auth", "exchange", "modify"};

/// How long each took, of a connection that came about; by ConnectStep.
using ConnectTimes = std::array<std::chrono::nanoseconds, kConnectSteps.size()>;

/// Bounds of the histograms of connect times, seconds. A kernel that resolves a neighbour in vain takes 1
/// to 3.
inline constexpr std::array<double, 13> kConnectBounds{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064,
                                                       0.128, 0.256, 0.512, 1.024, 2.048, 4.096};

}  // namespace rdma_exporter::probe
