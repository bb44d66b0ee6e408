// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/replay.h"
#include "app/setup/make_host.h"
#include "config/config.h"
#include "core/result.h"
#include "log/log.h"
#include "probe/agent/options.h"

namespace rdma_exporter::app {

/// A configuration that has passed all checks, with what the host had to be asked for it.
struct Setup {
  config::Config config;
  std::vector<std::string> listen_addresses;  ///< config.web's, with host names resolved
  probe::AgentOptions probe;
  std::shared_ptr<Replay> replay;  ///< nullptr unless --replay names an archive
};

/// Checks that the values fit each other and this host, looks names up and unpacks the recording. On any
/// thread; takes as long as file systems and name servers do. The error is a message for a person, with an
/// errno where the fault may pass by itself.
/// For a single collection no listening address is looked up.
core::Result<Setup> set_up(config::Config config, Purpose purpose);

/// What --check-config reports in addition to the errors of set_up(): names without an address here, filters
/// that match nothing here. Both may be right elsewhere.
core::Result<std::vector<std::string>> check(const config::Config& config);

/// From now on, log as configured. Any thread.
inline void setup_log(const config::LogConfig& settings) { log::setup(settings.level, settings.format); }

}  // namespace rdma_exporter::app
