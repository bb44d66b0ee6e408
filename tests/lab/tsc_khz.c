// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Prints the frequency of this machine's time-stamp counter in kHz. QEMU's software emulation shows the
// counter to its guests as it is.
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct reading {
  double ns;
  unsigned long long ticks;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

// Of several, the one that was interrupted least.
static struct reading read_both(void) {
  struct reading best = {0, 0};
  double shortest = 1e18;
  for (int i = 0; i < 100; ++i) {
    const double before = now();
    const unsigned long long ticks = __rdtsc();
    const double after = now();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = (struct reading){(before + after) / 2, ticks};
  }
  return best;
}

int main(void) {
  const struct reading first = read_both();
  nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL);
  const struct reading last = read_both();
  printf("%.0f\n", (last.ticks - first.ticks) / (last.ns - first.ns) * 1e6);
  return 0;
}
