// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <malloc.h>

#include <cstdio>
#include <exception>
#include <span>

#include "app/run.h"

int main(int argc, char** argv) {
  // One heap for the few threads there are: arenas of their own would only cost memory.
  ::mallopt(M_ARENA_MAX, 1);
  try {
    return rdma_exporter::app::run(std::span<const char* const>(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rdma_exporter: %s\n", error.what());
    return 1;
  }
}
