// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/fs/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace rdma_exporter::host {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

GuardedBuffer::~GuardedBuffer() { release(); }

void GuardedBuffer::release() {
  if (start_ != nullptr) ::munmap(start_, usable_ + page_size());
  start_ = nullptr;
  usable_ = 0;
}

std::span<std::byte> GuardedBuffer::get(std::size_t size) {
  if (start_ == nullptr || size > usable_) {
    release();
    const std::size_t usable = (size / page_size() + 1) * page_size();
    // All of it forbidden at first: there is no moment without the guard.
    void* memory = ::mmap(nullptr, usable + page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(memory);
    usable_ = usable;
    if (::mprotect(start_, usable_, PROT_READ | PROT_WRITE) != 0) {
      release();
      throw std::bad_alloc();
    }
  }
  return {start_ + (usable_ - size), size};
}

}  // namespace rdma_exporter::host
