// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Parses the recorded answer with the 15 counters of a Soft-RoCE port.
#include <benchmark/benchmark.h>

#include "host/netlink/nldev/nldev.h"
#include "tests/unit/support/recorded_netlink.h"

namespace {

using namespace rdma_exporter;

void parse_counters(benchmark::State& state) {
  const test::Message answer = test::recorded_message("stat_get_0.bin");
  std::uint64_t counters = 0;
  for (auto _ : state) {
    counters = 0;
    (void)host::nldev::parse_counters(answer, [&](std::string_view name, std::uint64_t value) {
      ++counters;
      benchmark::DoNotOptimize(name.data());
      benchmark::DoNotOptimize(value);
    });
  }
  if (counters != 15) state.SkipWithError("the recorded answer was not read");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(counters));
}
BENCHMARK(parse_counters);

}  // namespace
