// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>

#include "app/command.h"

namespace rdma_exporter::app {

/// The program: reads the command line and does what it asks for. Returns the exit status: 0, 1 (could not
/// serve) or 2 (the configuration is wrong). Does not return when reads are stuck in the kernel at the end:
/// then the process exits from inside.
int run(std::span<const char* const> arguments, Commands commands);

}  // namespace rdma_exporter::app
