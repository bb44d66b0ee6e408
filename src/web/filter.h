// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/result.h"
#include "web/metrics_source.h"

namespace rdma_exporter::web {

/// Reads `collect[]=NAME` and `exclude[]=NAME` out of the query of a target; other parameters are for others.
/// Errors, each a message for the client: both kinds at once, a broken percent escape.
core::Result<CollectorFilter> parse_filter(std::string_view query);

}  // namespace rdma_exporter::web
