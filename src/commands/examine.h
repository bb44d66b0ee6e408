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
#include "doctor/gather/facts.h"

namespace rdma_exporter::commands {

/// A host, as the commands doctor and report see it.
struct Examination {
  doctor::Facts facts;
  std::vector<Reading> readings;  ///< of the collectors, at the end
};

/// How long the counters are watched, a flag of both commands.
inline constexpr config::CommandFlag kSampleFlag{
    "--sample", "DURATION",
    "Watch the counters for so long (default 2s); 0s: do not. Of a recording: from its first "
    "to its last snapshot."};
core::Result<std::chrono::milliseconds> sample_time(const config::CommandLine& line);

/// Whether the readings say who has which RDMA resources, which takes dumps of tables.
enum class Owners : unsigned char { no, yes };

/// Reads the facts of the host that `config` means, and its counters at two times `sample` apart; once when
/// that is 0. Of a recording these are its first and its last snapshot, and the facts are those of the last.
/// Nothing is waited for longer than scrape.timeout at a time. `with` makes an exit status of it; it is
/// called before the threads are ended, because with one stuck in the kernel the process ends right then.
core::Result<int> examine(const config::Config& config, std::chrono::milliseconds sample, Owners owners,
                          const std::function<int(const Examination&)>& with);

}  // namespace rdma_exporter::commands
