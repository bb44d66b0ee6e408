// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace rdma_exporter::probe {

/// The steps of establishing a connection, in order.
enum class ConnectStep : unsigned char {
  tcp,       ///< the peer's name, and the TCP connection to it
  tls,       ///< mutual authentication
  exchange,  ///< both ends' queue pairs are created, and the peer's is connected
  modify,    ///< this end is connected; the kernel resolves the neighbour
};
inline constexpr std::array<std::string_view, 4> kConnectSteps{"tcp", "tls", "exchange", "modify"};

/// Duration of each step of a successful connection, indexed by ConnectStep.
using ConnectTimes = std::array<std::chrono::nanoseconds, kConnectSteps.size()>;

/// Bucket bounds of connect times in seconds. A kernel that fails to resolve a neighbour takes 1 to 3 s.
inline constexpr std::array<double, 13> kConnectBounds{0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064,
                                                       0.128, 0.256, 0.512, 1.024, 2.048, 4.096};

}  // namespace rdma_exporter::probe
