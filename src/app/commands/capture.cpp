// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <array>

#include "app/commands.h"

namespace rdma_exporter::app {
namespace {

constexpr std::array kFlags{
    config::CommandFlag{"--snapshots", "NUMBER", "So many recordings in a row (default 1)."},
    config::CommandFlag{"--interval", "DURATION", "Time between two of them (default 15s)."},
    config::CommandFlag{"--anonymize", "", "Replace names and addresses, the same by the same."},
};

core::Result<int> capture(const config::CommandLine& line) {
  return core::config_error(line.arguments.front() + ": capture is not there yet");
}

}  // namespace

extern const Command capture_command;
const Command capture_command{{.name = "capture",
                               .arguments = "OUT.tar.gz",
                               .at_least = 1,
                               .at_most = 1,
                               .summary = "Record what the exporter can read on this host.",
                               .description = "",
                               .flags = kFlags},
                              capture};

}  // namespace rdma_exporter::app
