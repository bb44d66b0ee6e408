// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "host/host.h"

namespace rdma_exporter::record {

/// Reads files that no collector reads but that help to find the cause of a problem: the PCIe bridges above
/// each device, interrupts and their affinity, limits, module parameters. Files that cannot be read are
/// skipped. Call this on a recording host, so that the answers are recorded.
void read_extra_files(host::Host& host);

}  // namespace rdma_exporter::record
