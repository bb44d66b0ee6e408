// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/session/operation.h"

#include <array>
#include <cstddef>

namespace rdma_exporter::probe {

std::string_view to_string(Op op) {
  static constexpr std::array<std::string_view, 3> kNames{"write", "read", "echo"};
  return kNames[static_cast<std::size_t>(op)];
}

std::string_view to_string(Stage stage) {
  static constexpr std::array<std::string_view, 9> kNames{"resolve", "tcp", "tls",  "exchange", "gid",
                                                          "modify",  "op",  "echo", "local"};
  return kNames[static_cast<std::size_t>(stage)];
}

std::string_view to_string(RttClock clock) { return clock == RttClock::nic ? "nic" : "host"; }

}  // namespace rdma_exporter::probe
