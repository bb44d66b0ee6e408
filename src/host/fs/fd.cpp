// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/fd.h"

#include <algorithm>
#include <cerrno>

namespace rdma_exporter::host {

bool OpenFileBudget::take(unsigned files) {
  unsigned allowed = allowed_.load(std::memory_order_relaxed);
  if (used_.fetch_add(files, std::memory_order_relaxed) + files <= allowed) return true;
  give_back(files);
  if (allowed < limit_ && (refusals_.fetch_add(1, std::memory_order_relaxed) + 1) % kRefusalsForOneMore == 0)
    allowed_.compare_exchange_strong(allowed, allowed + 1, std::memory_order_relaxed);
  return false;
}

bool OpenFileBudget::ran_out(const core::Error& error) {
  if (!core::is_errno(error, EMFILE) && !core::is_errno(error, ENFILE)) return false;
  // Closes a quarter of the kept files; several threads that fail at the same time close it only once.
  const unsigned fewer = used() / 4 * 3;
  unsigned allowed = allowed_.load(std::memory_order_relaxed);
  while (fewer < allowed && !allowed_.compare_exchange_weak(allowed, fewer, std::memory_order_relaxed)) {
  }
  return true;
}

}  // namespace rdma_exporter::host
