// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "probe/stats/registry.h"

namespace rdma_exporter::probe {

/// Every single session, including those of rotating targets, which share series in the metrics: state, last
/// failure, counts, and facts of the connection while it is up. A JSON document; docs/PROBE.md describes its
/// keys. Contains no key, queue pair number or PSN. Times are in seconds, timestamps since 1970. Any thread.
std::string sessions_json(const Registry::Contents& contents);

}  // namespace rdma_exporter::probe
