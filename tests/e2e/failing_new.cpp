// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// For LD_PRELOAD: each so-many-th `new` fails, in whichever thread. The number is the first of two in the
// file $FAILING_NEW, 0 is never, and can be changed at any time; the second counts what has failed.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

struct Shared {
  std::atomic<unsigned> every;
  std::atomic<unsigned> failed;
};

Shared never{};

Shared* shared() noexcept {
  static Shared* const mapped = []() -> Shared* {
    const char* const path = std::getenv("FAILING_NEW");
    const int fd = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return &never;
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    return memory == MAP_FAILED ? &never : static_cast<Shared*>(memory);
  }();
  return mapped;
}

void* allocate(std::size_t size) noexcept {
  static std::atomic<unsigned> count{0};
  const unsigned every = shared()->every.load(std::memory_order_relaxed);
  if (every != 0 && count.fetch_add(1, std::memory_order_relaxed) % every == every - 1) {
    ++shared()->failed;
    return nullptr;
  }
  return std::malloc(size == 0 ? 1 : size);
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
