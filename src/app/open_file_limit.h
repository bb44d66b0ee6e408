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
/// Returns what does; where that is less, half of the limit goes to kept files, a quarter to connections, and
/// the rest is for reading.
OpenFiles raise_open_file_limit(const OpenFiles& wanted);

}  // namespace rdma_exporter::app
