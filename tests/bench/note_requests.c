// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Preloaded into the exporter: appends what it asks over netlink to the file $BENCH_REQUESTS, each request as a struct
// request_head (request_list.h) and the message.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "request_list.h"

static void note(int fd, const struct iovec* message) {
  struct request_head head = {.protocol = 0, .size = (uint32_t)message->iov_len};
  int domain = 0;
  socklen_t length = sizeof domain;
  if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0 || domain != AF_NETLINK) return;
  if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &head.protocol, &length) != 0) return;
  const struct iovec parts[] = {{&head, sizeof head}, *message};
  int out = open(getenv("BENCH_REQUESTS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0 || writev(out, parts, 2) < 0) die("BENCH_REQUESTS");
  close(out);
}

// libnl sends each message with it, as one piece.
ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  ssize_t (*real)(int, const struct msghdr*, int) = (ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg");
  if (message->msg_iovlen == 1) note(fd, message->msg_iov);
  return real(fd, message, flags);
}
