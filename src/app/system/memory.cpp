// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/system/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace rdma_exporter::app {
namespace {

// Not those that are written to, which include what is relocated and then made read-only: they would come
// back as they are in the file.
bool is_constant(const ElfW(Phdr) & segment) {
  return segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0;
}

int release_constants(dl_phdr_info* object, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (!is_constant(segment)) continue;
    // Whole pages: what shares one with a neighbour stays.
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + segment.p_filesz) / page * page;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the dynamic linker gives addresses as numbers
    if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void release_startup_memory() {
  ::malloc_trim(0);
  ::dl_iterate_phdr(release_constants, nullptr);
}

}  // namespace rdma_exporter::app
