// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// A directory of counters in this machine's own sysfs (every machine has the loopback interface's): the
// collectors' reader compared with a bare loop over kept descriptors, and with opening every file.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "collectors/counters/sysfs_counters.h"
#include "collectors/counters/tables/port_families.h"
#include "host/fs/fd.h"

namespace {

using namespace rdma_exporter;

const std::string kDirectory = "class/net/lo/statistics";

std::vector<std::string> paths() {
  std::vector<std::string> all;
  for (const std::string& name :
       host::make_host_fs("/sys")->list(kDirectory).value_or(std::vector<std::string>{}))
    all.push_back("/sys/" + kDirectory + "/" + name);
  return all;
}

bool skip(benchmark::State& state) {
  if (!paths().empty()) return false;
  state.SkipWithError("SKIPPED: no /sys/class/net/lo/statistics here");
  return true;
}

void read_directory(benchmark::State& state) {
  if (skip(state)) return;
  host::Host host{.sysfs = host::make_host_fs("/sys"), .procfs = nullptr, .verbs = nullptr};
  collectors::SysfsCounters files(host, kDirectory);
  collectors::CounterSet counters(collectors::CounterRules{{}, &collectors::kPortRaw}, "");
  core::JobRun run(1);
  for (auto _ : state) {
    run.reset(1);
    files.read(counters, run);
    counters.emit(run);
    benchmark::DoNotOptimize(run.samples().size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.samples().size()));
}
BENCHMARK(read_directory);

void read_directory_with_bare_pread(benchmark::State& state) {
  if (skip(state)) return;
  std::vector<host::Fd> files;
  for (const std::string& path : paths()) files.emplace_back(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 64> buffer{};
  for (auto _ : state)
    for (const host::Fd& file : files)
      benchmark::DoNotOptimize(::pread(file.get(), buffer.data(), buffer.size(), 0));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(files.size()));
}
BENCHMARK(read_directory_with_bare_pread);

void read_directory_with_bare_open(benchmark::State& state) {
  if (skip(state)) return;
  const auto all = paths();
  std::array<char, 64> buffer{};
  for (auto _ : state) {
    for (const std::string& path : all) {
      const host::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      benchmark::DoNotOptimize(::read(file.get(), buffer.data(), buffer.size()));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(all.size()));
}
BENCHMARK(read_directory_with_bare_open);

}  // namespace
