// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as /proc/PID/stat: a process may be called anything, parentheses and blanks included.
#include <cstddef>
#include <cstdint>
#include <string>

#include "app/metrics/process_metrics.h"
#include "tests/fuzz/check.h"

using namespace rdma_exporter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ticks = app::parse_start_ticks(text);
  fuzz::check(!ticks || text.find(')') != std::string_view::npos, "there is a name", text);
  // The same bytes as a name leave the fields of a real line alone.
  const std::string line =
      "1 (" + std::string(text) + ") S 1 1 1 0 -1 0 0 0 0 0 11 12 0 0 20 0 13 0 14 15 16 0\n";
  fuzz::check(app::parse_start_ticks(line) == 14, "the name is no field", line);
  return 0;
}
