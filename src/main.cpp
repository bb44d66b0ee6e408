// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <malloc.h>

#include <cstdio>
#include <exception>
#include <span>

#include "app/run.h"
#include "app/system/process.h"
#include "commands/commands.h"

namespace {

void set_up_heap() {
  // One heap for the few threads there are: arenas of their own would only cost memory.
  ::mallopt(M_ARENA_MAX, 1);
  // A page comes and goes with each scrape. A small one's memory stays with the process, because the kernel
  // would have to clear memory that it hands out again. A large one's is given back.
  constexpr int kSmallPage = 1 << 19;
  ::mallopt(M_MMAP_THRESHOLD, kSmallPage);
  ::mallopt(M_TRIM_THRESHOLD, kSmallPage);
}

}  // namespace

int main(int argc, char** argv) {
  rdma_exporter::app::hold_signals();
  set_up_heap();
  try {
    return rdma_exporter::app::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)),
                                   rdma_exporter::commands::all());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rdma_exporter: %s\n", error.what());
    return 1;
  }
}
