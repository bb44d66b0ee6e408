// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

namespace rdma_exporter::app {

/// How many file descriptors go where.
struct OpenFiles {
  unsigned kept_files = 0;   ///< kept open between scrapes
  unsigned connections = 1;  ///< of clients
};

/// Raises the process's soft limit of open files as far as the hard limit allows, so that `wanted` fits.
/// Returns what does. Of a small limit at least half stays free of kept files, and connections get at most a
/// quarter of it.
OpenFiles raise_open_file_limit(const OpenFiles& wanted);

}  // namespace rdma_exporter::app
