// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/commands.h"

#include <array>

namespace rdma_exporter::commands {

extern const app::Command capture_command;
extern const app::Command doctor_command;
extern const app::Command fleet_command;
extern const app::Command probe_command;
extern const app::Command report_command;
extern const app::Command responder_command;

namespace {

constexpr std::array kAll{&capture_command, &doctor_command, &report_command,
                          &fleet_command,   &probe_command,  &responder_command};

}  // namespace

app::Commands all() { return kAll; }

}  // namespace rdma_exporter::commands
