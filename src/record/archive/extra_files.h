// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "host/host.h"

namespace rdma_exporter::record {

/// Reads what no collector does and who looks for the cause of a problem wants to see: the path of PCIe
/// bridges above each device, interrupts and where they go, limits, parameters of modules. What cannot be
/// read is left out. Of a host that records, so that it is noted.
void read_extra_files(host::Host& host);

}  // namespace rdma_exporter::record
