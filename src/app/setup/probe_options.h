// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "config/config.h"
#include "core/result.h"
#include "probe/agent/options.h"

namespace rdma_exporter::app {

/// The probe's part of the configuration in its own terms. Resolves names to listen on.
core::Result<probe::AgentOptions> probe_options(const config::ProbeConfig& config);

/// Reads the traffic class to which the host sets a port, other than 0, below `sysfs`.
probe::PresetClass preset_class(const std::string& sysfs);

}  // namespace rdma_exporter::app
