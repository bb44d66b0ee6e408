// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Preloaded into the exporter: on SIGRTMAX, writes to $BENCH_HEAP how many bytes of its heap are in use, without what
// free lists hold. Send the signal while the process waits: the handler takes malloc's locks.
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int report = -1;

static void on_signal(int number) {
  (void)number;
  struct mallinfo2 heap = mallinfo2();
  char line[32];
  int length = snprintf(line, sizeof line, "%zu\n", heap.uordblks + heap.hblkhd);
  if (write(report, line, (size_t)length) != length) abort();
}

__attribute__((constructor)) static void listen_for_signal(void) {
  const char* path = getenv("BENCH_HEAP");
  if (!path) return;
  report = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  if (report < 0 || sigaction(SIGRTMAX, &action, NULL) != 0) abort();
}
