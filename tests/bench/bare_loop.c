// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The least possible work to read a host's counters: reads the same files and discards the content.
//
//   bare_loop LIST ROUNDS BATCHES PAUSE     LIST has one path a line
//   bare_loop LIST                          one round of pread for each line of standard input, answered by a line
//
// The first prints a line "KIND CPU WALL" each for: open (open, read and close every file), pread (read kept descriptors at
// offset 0), and tight (pread without the pause). CPU and WALL are microseconds for one round, without the pause,
// each that of the batch with the least. PAUSE are microseconds of sleep before each round: a daemon works in
// bursts, and what it works on has left the caches between them; a loop without a pause measures something that no
// daemon can do.
#define _GNU_SOURCE
#include <time.h>

#include "file_list.h"

static void round_open(const struct file_list* list) {
  char buffer[4096];
  for (size_t i = 0; i < list->count; ++i) {
    int fd = open(list->paths[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0) die(list->paths[i]);
    if (read(fd, buffer, sizeof buffer) < 0) die(list->paths[i]);
    close(fd);
  }
}

static void rounds_on_request(const struct file_list* list) {
  char line[8];
  while (fgets(line, sizeof line, stdin)) {
    round_pread(list);
    puts("done");
    fflush(stdout);
  }
}

static double cpu_us(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return 1e6 * (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static double wall_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, void (*round)(const struct file_list*), const struct file_list* list, int rounds,
                    int batches, unsigned pause) {
  double cpu[64], wall[64];
  round(list);  // warm
  for (int b = 0; b < batches; ++b) {
    double cpu_begin = cpu_us(), spent = 0;
    for (int i = 0; i < rounds; ++i) {
      if (pause) usleep(pause);
      double wall_begin = wall_us();
      round(list);
      spent += wall_us() - wall_begin;
    }
    cpu[b] = (cpu_us() - cpu_begin) / rounds;
    wall[b] = spent / rounds;
  }
  qsort(cpu, (size_t)batches, sizeof *cpu, by_size);
  qsort(wall, (size_t)batches, sizeof *wall, by_size);
  printf("%s %.1f %.1f\n", name, cpu[0], wall[0]);
}

int main(int argc, char** argv) {
  int rounds = argc == 5 ? atoi(argv[2]) : 0, batches = argc == 5 ? atoi(argv[3]) : 0;
  if (argc != 2 && (rounds < 1 || batches < 1 || batches > 64)) {
    fprintf(stderr, "usage: bare_loop LIST [ROUNDS BATCHES PAUSE] (at most 64 batches)\n");
    return 2;
  }
  struct file_list list = {0};
  load(&list, argv[1]);
  open_all(&list);
  if (argc == 2) {
    rounds_on_request(&list);
    return 0;
  }
  unsigned pause = (unsigned)atoi(argv[4]);
  measure("tight", round_pread, &list, rounds, batches, 0);
  measure("pread", round_pread, &list, rounds, batches, pause);
  for (size_t i = 0; i < list.count; ++i) close(list.fds[i]);
  measure("open", round_open, &list, rounds, batches, pause);
  return 0;
}
