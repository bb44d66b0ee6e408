// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Preloaded into the exporter: makes the tree $BENCH_SYSFS look like a sysfs. The content of a sysfs
// directory is fixed while its device is registered. A plain tree has to be checked for changes in each
// scrape, which costs time that no real host needs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

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
