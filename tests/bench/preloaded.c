// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Preloaded into the exporter that is measured:
// - The tree $BENCH_SYSFS looks like a sysfs. The content of a sysfs directory is fixed while its device is
//   registered. A plain tree has to be checked for changes in each scrape, which costs time that no real host
//   needs.
// - On SIGRTMAX, the number of bytes of the heap that are in use, without what free lists hold, is written to
//   $BENCH_SYSFS.heap. Send the signal while the process waits: the handler takes malloc's locks.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static int is_ours(const char* path) {
  const char* root = getenv("BENCH_SYSFS");
  return root && strncmp(path, root, strlen(root)) == 0;
}

int statfs(const char* path, struct statfs* info) {
  int (*real)(const char*, struct statfs*) = (int (*)(const char*, struct statfs*))dlsym(RTLD_NEXT, "statfs");
  int status = real(path, info);
  if (status == 0 && is_ours(path)) info->f_type = SYSFS_MAGIC;
  return status;
}

int statfs64(const char* path, struct statfs64* info) {
  int (*real)(const char*, struct statfs64*) = (int (*)(const char*, struct statfs64*))dlsym(RTLD_NEXT, "statfs64");
  int status = real(path, info);
  if (status == 0 && is_ours(path)) info->f_type = SYSFS_MAGIC;
  return status;
}

static void report_heap(int number) {
  (void)number;
  struct mallinfo2 heap = mallinfo2();
  char text[4096];
  snprintf(text, sizeof text, "%s.heap", getenv("BENCH_SYSFS"));
  int file = open(text, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int length = snprintf(text, sizeof text, "%zu\n", heap.uordblks + heap.hblkhd);
  if (file < 0 || write(file, text, (size_t)length) != length || close(file) != 0) abort();
}

__attribute__((constructor)) static void listen_for_signal(void) {
  struct sigaction action = {.sa_handler = report_heap, .sa_flags = SA_RESTART};
  if (sigaction(SIGRTMAX, &action, NULL) != 0) abort();
}
