// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>

namespace rdma_exporter::commands {

/// Sleeps until `start + time`. During a wait of five seconds or more, shows the progress on stderr every
/// second if that is a terminal, and erases it at the end.
void wait_with_progress(std::chrono::steady_clock::time_point start, std::chrono::milliseconds time);

}  // namespace rdma_exporter::commands
