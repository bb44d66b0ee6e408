// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// Whether a hw counter of that driver is a value that may decrease (a current number, a rate, a register) or
/// a high-water mark. For Driver::unknown, a name counts as a gauge if it is one with any driver.
bool is_gauge(std::string_view raw, host::Driver driver);

}  // namespace rdma_exporter::collectors
