// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The files that a bare program reads in place of an exporter.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "die.h"

struct file_list {
  char** paths;
  int* fds;
  size_t count;
};

static void load(struct file_list* list, const char* name) {
  FILE* in = fopen(name, "r");
  if (!in) die(name);
  char line[4096];
  size_t room = 0;
  while (fgets(line, sizeof line, in)) {
    line[strcspn(line, "\n")] = '\0';
    if (list->count == room) {
      room = room ? 2 * room : 1024;
      list->paths = realloc(list->paths, room * sizeof *list->paths);
      list->fds = realloc(list->fds, room * sizeof *list->fds);
      if (!list->paths || !list->fds) die("realloc");
    }
    list->paths[list->count++] = strdup(line);
  }
  fclose(in);
}

static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) die("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) die("setrlimit");
}

static void open_all(struct file_list* list) {
  raise_descriptor_limit();
  for (size_t i = 0; i < list->count; ++i) {
    list->fds[i] = open(list->paths[i], O_RDONLY | O_CLOEXEC);
    if (list->fds[i] < 0) die(list->paths[i]);
  }
}

static void round_pread(const struct file_list* list) {
  char buffer[4096];
  for (size_t i = 0; i < list->count; ++i) {
    if (pread(list->fds[i], buffer, sizeof buffer, 0) < 0) die(list->paths[i]);
  }
}
