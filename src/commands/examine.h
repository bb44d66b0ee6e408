// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "commands/survey.h"
#include "config/config.h"
#include "config/flags/command.h"
#include "core/result.h"
#include "doctor/host_facts.h"

namespace rdma_exporter::commands {

/// A host, as the commands doctor and report see it.
struct Examination {
  doctor::Facts facts;
  std::vector<Reading> readings;  ///< of the collectors, at the end
};

/// How long the counters are observed; a flag of both commands.
inline constexpr config::CommandFlag kSampleFlag{
    "--sample", "DURATION",
    "Time to watch the counters (default 2s); 0s: do not watch. A recording is watched from its first to its "
    "last snapshot."};
core::Result<std::chrono::milliseconds> sample_time(const config::CommandLine& line);

/// Whether to determine the owners of RDMA resources, which takes dumps of tables.
enum class Owners : unsigned char { no, yes };

/// Reads the facts of the configured host, and its counters at two times `sample` apart, or once if that is
/// 0. For a recording these are its first and last snapshot, and the facts are those of the last. Nothing is
/// waited for longer than scrape.timeout. `use` turns the result into an exit status. It is called before
/// the threads end, because if one is stuck in the kernel the process exits right afterwards.
core::Result<int> examine(const config::Config& config, std::chrono::milliseconds sample, Owners owners,
                          const std::function<int(const Examination&)>& use);

}  // namespace rdma_exporter::commands
