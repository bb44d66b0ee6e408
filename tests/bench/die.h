// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <stdio.h>
#include <stdlib.h>

static inline void die(const char* what) {
  perror(what);
  exit(1);
}
