// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "app/command.h"

// To add a command: write NAME.cpp beside this file, which defines NAME_command, and add a line to
// commands.cpp.
namespace rdma_exporter::commands {

/// All commands, in the order of the help.
app::Commands all();

}  // namespace rdma_exporter::commands
