// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/probe/keygen.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>

namespace rdma_exporter::commands {
namespace {

constexpr mode_t kMode = 0400;

std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// Returns 0, or the errno of the failure.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

core::Result<std::string> make_key(const std::string& path) {
  std::array<unsigned char, 4> name{};
  std::array<unsigned char, 32> key{};
  if (::RAND_bytes(name.data(), name.size()) != 1 || ::RAND_bytes(key.data(), key.size()) != 1)
    return core::os_error(EIO, "no random bytes are available");
  // A random name, so that two keys in one file differ in name.
  const std::string identity = "key-" + hex(name);
  std::string line = identity + ":" + hex(key) + "\n";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode);
  const int refused = fd < 0 ? errno : 0;
  if (refused == EEXIST) return core::os_error(EEXIST, path + " already exists and is left unchanged");
  if (refused != 0) return core::os_error(refused, path);
  const int failed = write_all(fd, line);
  ::OPENSSL_cleanse(key.data(), key.size());
  ::OPENSSL_cleanse(line.data(), line.size());
  ::close(fd);
  if (failed == 0) return identity;
  ::unlink(path.c_str());
  return core::os_error(failed, path);
}

}  // namespace rdma_exporter::commands
