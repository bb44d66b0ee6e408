// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/table.h"

namespace rdma_exporter::fleet {

/// Parses the answer of /api/v1/query, a vector, and keeps the labels in `columns`. The text may come from
/// anybody. Anything else, an error of the server, and a truncated answer become an Answer with an error for
/// the user. The document is parsed as a stream; only the rows are stored.
Answer parse_answer(std::string_view json, const std::vector<std::string>& columns);

}  // namespace rdma_exporter::fleet
