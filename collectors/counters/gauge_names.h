// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "host/topology/driver.h"

namespace rdma_exporter::collectors {

/// Whether a hw counter of that driver is a value that may fall: objects now, a rate, a register; or the
/// highest value so far. With Driver::unknown a name counts that is such a value with any driver.
bool is_gauge(std::string_view raw, host::Driver driver);

}  // namespace rdma_exporter::collectors
