// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <string>

#include "config/config.h"
#include "core/result.h"
#include "scrape/selection.h"
#include "web/metrics_source.h"

namespace rdma_exporter::app {

/// What a filter selects of the collectors there are. Errors, each a message for the client: a name that no
/// collector has, or to collect only one that is switched off. To exclude one that is off is fine: one
/// configuration of Prometheus serves hosts that differ.
core::Result<scrape::Selection> select_collectors(
    const web::CollectorFilter& filter,
    const std::map<std::string, config::CollectorConfig, std::less<>>& collectors);

}  // namespace rdma_exporter::app
