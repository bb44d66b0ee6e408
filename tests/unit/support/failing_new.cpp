// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/support/failing_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr long kNever = std::numeric_limits<long>::max();
// Falls with each allocation; those that find it between 0 and -failing fail.
std::atomic<long> granted{kNever};
std::atomic<long> failing{0};
std::atomic<bool> failed{false};

bool is_to_fail() {
  if (granted.load(std::memory_order_relaxed) == kNever) return false;
  const long left = granted.fetch_sub(1);
  if (left > 0 || left <= -failing) return false;
  failed = true;
  return true;
}

void* allocate(std::size_t size) noexcept {
  return is_to_fail() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

void* allocate_or_throw(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace rdma_exporter::test {

FailingNew::FailingNew(long first_granted, long then_failing) {
  failed = false;
  failing = then_failing;
  granted = first_granted;
}
FailingNew::~FailingNew() { granted = kNever; }

bool FailingNew::happened() const { return failed; }

}  // namespace rdma_exporter::test
