// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// From the counter values of one mlx5 port to its samples.
#include <benchmark/benchmark.h>

#include <set>
#include <string>
#include <vector>

#include "collectors/counters/counter_set.h"
#include "collectors/counters/tables/hw_table.h"
#include "collectors/counters/tables/port_families.h"

namespace {

using namespace rdma_exporter;

void emit_port(benchmark::State& state) {
  const auto rows = collectors::port_hw_rows(host::Driver::mlx5);
  collectors::CounterRules rules{rows, &collectors::kPortRaw};
  rules.raw_value = &collectors::kPortRawValue;
  rules.unwrap = true;
  rules.driver = host::Driver::mlx5;
  std::set<std::string> names;
  for (const collectors::CounterRow& row : rows) names.emplace(row.raw);
  collectors::CounterSet counters(rules, R"(device="mlx5_0",port="1")");
  counters.set_names({names.begin(), names.end()});
  core::JobRun run(1);
  std::uint64_t value = 0;
  for (auto _ : state) {
    run.reset(1);
    ++value;
    for (std::size_t i = 0; i < names.size(); ++i) counters.put(i, value);
    counters.emit(run);
    benchmark::DoNotOptimize(run.samples().size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(names.size()));
}
BENCHMARK(emit_port);

}  // namespace
