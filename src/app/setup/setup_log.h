// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "config/config.h"
#include "log/log.h"

namespace rdma_exporter::app {

/// From now on, log as configured. Any thread.
inline void setup_log(const config::LogConfig& settings) { log::setup(settings.level, settings.format); }

}  // namespace rdma_exporter::app
