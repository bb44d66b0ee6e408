// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/program.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "collectors/collector.h"

namespace rdma_exporter::app {

std::vector<config::CollectorChoice> collector_choices() {
  std::vector<config::CollectorChoice> choices;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    auto& choice =
        choices.emplace_back(config::CollectorChoice{spec->name, spec->enabled_by_default, spec->help});
    for (const core::MetricDesc* family : spec->families()) choice.families.push_back(family->name);
  }
  return choices;
}

int print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) fmt::print(stderr, "rdma_exporter: cannot write to standard output\n");
  return written ? 0 : kCannotServe;
}

void exit_now(int status) {
  std::fflush(nullptr);
  std::_Exit(status);
}

int refuse(const core::Error& error) {
  fmt::print(stderr, "rdma_exporter: {}\n", core::to_string(error));
  return error.os_errno != 0 ? kCannotServe : kBadConfiguration;
}

}  // namespace rdma_exporter::app
