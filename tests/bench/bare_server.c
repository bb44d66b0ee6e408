// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The least that an HTTP server needs to read a host's counters without letting a read that hangs hold up its
// connections: one thread answers, another one reads the files with pread on kept descriptors.
//
//   bare_server LIST PAGE [REQUESTS]     LIST has one path a line, REQUESTS netlink requests (note_requests.c)
//
// Prints the port of the loopback that it listens on. Answers every request, one connection at a time. PAGE is a number of
// bytes, which say nothing; or the path of a page, whose lines are written each time. No value is parsed and no file is
// looked for.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>

#include "file_list.h"
#include "page_lines.h"
#include "request_list.h"

static struct file_list files;
static struct request_list requests;
static struct page_lines lines;
static sem_t asked, done;

static void* read_when_asked(void* unused) {
  for (;;) {
    while (sem_wait(&asked) != 0) {
    }
    round_pread(&files);
    round_requests(&requests);
    sem_post(&done);
  }
  return unused;
}

static int listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr*)&address, length) != 0 || listen(listener, 8) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &length) != 0)
    die("listen");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

// Returns whether one has come. The client waits for the answer before it sends the next.
static int has_request(int connection) {
  char buffer[4096];
  size_t length = 0;
  while (length < sizeof buffer - 1) {
    ssize_t n = read(connection, buffer + length, sizeof buffer - 1 - length);
    if (n <= 0) return 0;
    length += (size_t)n;
    buffer[length] = '\0';
    if (strstr(buffer, "\r\n\r\n")) return 1;
  }
  return 0;
}

static int send_all(int connection, const char* answer, size_t size) {
  while (size > 0) {
    ssize_t n = send(connection, answer, size, MSG_NOSIGNAL);
    if (n < 0) return 0;
    answer += n;
    size -= (size_t)n;
  }
  return 1;
}

// Where the page begins in it.
static char* make_answer(size_t page, char** answer) {
  *answer = malloc(page + 128);
  if (!*answer) die("malloc");
  int head = sprintf(*answer, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n", page);
  memset(*answer + head, '\n', page);
  return *answer + head;
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    fprintf(stderr, "usage: bare_server LIST PAGE [REQUESTS]\n");
    return 2;
  }
  load(&files, argv[1]);
  open_all(&files);
  if (argc == 4) load_requests(&requests, argv[3]);
  long bytes = atol(argv[2]);
  if (bytes < 1) load_page(&lines, argv[2]);
  pthread_t reader;
  if (sem_init(&asked, 0, 0) != 0 || sem_init(&done, 0, 0) != 0 ||
      pthread_create(&reader, NULL, read_when_asked, NULL) != 0)
    die("pthread_create");
  const size_t size = bytes > 0 ? (size_t)bytes : lines.size;
  char* answer;
  char* const page = make_answer(size, &answer);
  const int listener = listen_on_loopback();
  for (;;) {
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC), on = 1;
    if (connection < 0) die("accept");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (has_request(connection)) {
      sem_post(&asked);
      while (sem_wait(&done) != 0) {
      }
      write_page(&lines, page);
      if (!send_all(connection, answer, (size_t)(page - answer) + size)) break;
    }
    close(connection);
  }
}
