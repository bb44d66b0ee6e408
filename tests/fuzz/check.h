// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace rdma_exporter::fuzz {

/// An invariant of a fuzz target: ends the process with what does not hold, in every build type.
inline void check(bool holds, const char* what, std::string_view input = {}) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%.*s\n", what, static_cast<int>(input.size()), input.data());
  std::abort();
}

}  // namespace rdma_exporter::fuzz
