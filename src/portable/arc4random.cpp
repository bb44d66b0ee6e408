// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// glibc has arc4random() since 2.36. The static libraries of Debian 12 (libstdc++'s random.o, libcrypt) take
// it from there, and the program would not start where glibc is older: RHEL 9, Ubuntu 22.04.
#include <stdlib.h>
#include <sys/random.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace {

// As glibc's: what cannot be random ends the program.
void fill(char* out, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::getrandom(out, std::min<std::size_t>(size, 256), 0);  // up to 256 bytes at once
    if (got < 0) ::abort();
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] void arc4random_buf(void* out, std::size_t size) noexcept {
  fill(static_cast<char*>(out), size);
}

[[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  arc4random_buf(&number, sizeof(number));
  return number;
}
}
