// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

namespace rdma_exporter::app {

/// Gives back the memory that only a start or a reload needed: free heap, and the resident pages of code and
/// constants. Most of those belong to the command line, the configuration and the dynamic linker, and are not
/// needed again; the others come back from the page cache, at the cost of a fault each (madvise(2),
/// MADV_DONTNEED). Any thread.
void release_startup_memory();

}  // namespace rdma_exporter::app
