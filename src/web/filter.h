// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/result.h"
#include "web/metrics_source.h"

namespace rdma_exporter::web {

/// Parses `collect[]=NAME` and `exclude[]=NAME` in the query of a target; ignores other parameters. Errors,
/// each a message for the client: both kinds at once, either without its brackets, a broken percent escape.
core::Result<CollectorFilter> parse_filter(std::string_view query);

}  // namespace rdma_exporter::web
