// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Netlink requests in a file (note_requests.c), which a bare program makes in place of an exporter.
#pragma once

#include <fcntl.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "die.h"

struct request_head {
  int protocol;
  uint32_t size;
};

struct request {
  int fd;  // of a socket of its protocol
  uint32_t size;
  void* message;
};

struct request_list {
  struct request* requests;
  size_t count;
  int sockets[MAX_LINKS];  // by protocol, 0: none yet
};

static inline void load_requests(struct request_list* list, const char* name) {
  FILE* in = fopen(name, "r");
  if (!in) die(name);
  struct request_head head;
  while (fread(&head, sizeof head, 1, in) == 1) {
    int* fd = &list->sockets[head.protocol];
    if (!*fd) *fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, head.protocol);
    struct request request = {*fd, head.size, malloc(head.size)};
    list->requests = realloc(list->requests, (list->count + 1) * sizeof request);
    if (*fd < 0 || !request.message || !list->requests || fread(request.message, head.size, 1, in) != 1)
      die(name);
    list->requests[list->count++] = request;
  }
  fclose(in);
}

// Whether a dump goes on in another datagram.
static inline int goes_on(const char* datagram, ssize_t size) {
  const struct nlmsghdr* message = (const struct nlmsghdr*)datagram;
  int more = 0;
  for (; NLMSG_OK(message, size); message = NLMSG_NEXT(message, size))
    more = (message->nlmsg_flags & NLM_F_MULTI) && message->nlmsg_type != NLMSG_DONE;
  return more;
}

static inline void round_requests(const struct request_list* list) {
  static char answer[65536] __attribute__((aligned(NLMSG_ALIGNTO)));
  for (const struct request* request = list->requests; request < list->requests + list->count; ++request) {
    if (send(request->fd, request->message, request->size, 0) < 0) die("send");
    ssize_t size;
    do {
      size = recv(request->fd, answer, sizeof answer, 0);
      if (size < 0) die("recv");
    } while (goes_on(answer, size));
  }
}
