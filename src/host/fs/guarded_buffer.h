// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <span>

namespace rdma_exporter::host {

/// Memory that ends at a page which nobody may touch: a kernel that writes more than it was asked for gets
/// EFAULT there instead of overwriting the heap. Keeps its memory from use to use. One thread at a time.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// Exactly `size` bytes up to the guard page, with what the last user left in them; aligned to the largest
  /// power of two that divides `size`. Ends the life of the span it gave before. Throws std::bad_alloc.
  std::span<std::byte> get(std::size_t size);

 private:
  void release();

  std::byte* start_ = nullptr;
  std::size_t usable_ = 0;  ///< bytes before the guard page
};

}  // namespace rdma_exporter::host
