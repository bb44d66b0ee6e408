// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <utility>

namespace rdma_exporter::probe {

/// Whether files have changed and are stable, judged by stamps taken some seconds apart. Reading a file while
/// it is being written would yield half of it, and an invalid file should not be tried again each time. One
/// thread.
class StampWatch {
 public:
  /// `in_use`: stamp of the files that were read last. True once for each change that has been stable between
  /// two calls.
  bool changed(const std::string& in_use, const std::string& stamp) {
    const bool still = std::exchange(seen_, stamp) == stamp;
    if (!still || stamp == in_use || stamp == tried_) return false;
    tried_ = stamp;
    return true;
  }

 private:
  std::string seen_;
  std::string tried_;
};

}  // namespace rdma_exporter::probe
