// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Preloaded into the exporter: appends what it asks over netlink to the file $BENCH_REQUESTS, each request as a struct
// request_head (request_list.h) and the message.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "request_list.h"

static void note(int fd, const void* message, size_t size) {
  struct request_head head = {.protocol = 0, .size = (uint32_t)size};
  int domain = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_NETLINK) return;
  if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &head.protocol, &length) != 0) return;
  const struct iovec parts[] = {{&head, sizeof head}, {(void*)message, size}};
  int out = open(getenv("BENCH_REQUESTS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0 || writev(out, parts, 2) < 0) die("BENCH_REQUESTS");
  close(out);
}

ssize_t send(int fd, const void* message, size_t size, int flags) {
  ssize_t (*real)(int, const void*, size_t, int) = (ssize_t(*)(int, const void*, size_t, int))dlsym(RTLD_NEXT, "send");
  note(fd, message, size);
  return real(fd, message, size, flags);
}
