// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

namespace rdma_exporter::app {

/// Raises the process's soft limit of open files as far as the hard limit allows, so that `kept_files` can
/// stay open beside `connections` and what else is needed. Returns how many files may be kept within the
/// limit reached.
unsigned raise_open_file_limit(unsigned kept_files, unsigned connections);

}  // namespace rdma_exporter::app
