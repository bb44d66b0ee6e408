// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "core/seconds.h"

namespace rdma_exporter::commands {

void wait_with_progress(std::chrono::steady_clock::time_point start, std::chrono::milliseconds time) {
  using namespace std::chrono_literals;
  constexpr auto kLong = 5s;
  const auto end = start + time;
  const bool shown = time >= kLong && ::isatty(STDERR_FILENO) == 1;
  for (auto next = start; shown && next < end; next += 1s) {
    std::this_thread::sleep_until(next);
    fmt::print(stderr, "\rWatching the counters: {} of {:g} s ", (next - start) / 1s, core::seconds(time));
    std::fflush(stderr);
  }
  std::this_thread::sleep_until(end);
  if (shown) fmt::print(stderr, "\r\x1b[K");  // "erase to the end of the line"
}

}  // namespace rdma_exporter::commands
