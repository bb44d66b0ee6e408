// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "core/result.h"

// What serving and the commands share as parts of one program.
namespace rdma_exporter::app {

/// Exit statuses.
constexpr int kCannotServe = 1;       ///< what was asked for did not come out
constexpr int kBadConfiguration = 2;  ///< what was asked for makes no sense

/// The collectors of this binary, for the parser of the configuration.
std::vector<config::CollectorChoice> collector_choices();

/// Writes to standard output. The exit status: what was asked for did not come out when standard output is
/// full or closed.
int print(const std::string& text);

/// Ends the process while a worker may be inside the kernel: destructors would wait for it for ever.
[[noreturn]] void exit_now(int status);

/// Says on standard error what is wrong with what was asked for. The exit status: kCannotServe for what may
/// pass, which a service manager tries again, kBadConfiguration for what a person has to edit.
int refuse(const core::Error& error);

}  // namespace rdma_exporter::app
