// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "config/config.h"
#include "core/result.h"
#include "probe/agent/options.h"

namespace rdma_exporter::app {

/// The probe's part of the configuration in its own terms. Resolves names to listen on.
core::Result<probe::AgentOptions> probe_options(const config::ProbeConfig& config);

}  // namespace rdma_exporter::app
