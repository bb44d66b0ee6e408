// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/regular_file.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace rdma_exporter::core {
namespace {

const dev_t kNullDevice = ::makedev(1, 3);  // admin-guide/devices.txt

}  // namespace

Result<RegularFile> RegularFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return os_error(errno);
  RegularFile file(fd, {});
  if (::fstat(fd, &file.status_) != 0) return os_error(errno);
  if (S_ISDIR(file.status_.st_mode)) return os_error(EISDIR);
  const bool is_null = S_ISCHR(file.status_.st_mode) && file.status_.st_rdev == kNullDevice;
  if (!S_ISREG(file.status_.st_mode) && !is_null) return config_error("is not a regular file");
  return file;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), status_(other.status_) {}

RegularFile::~RegularFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> RegularFile::read(std::size_t max_bytes) const {
  std::string text;
  std::array<char, 16'384> part{};
  for (;;) {
    const ssize_t count = ::read(fd_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os_error(errno);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes) return too_long_error();
  }
}

tl::unexpected<Error> unreadable(const std::string& path, const Error& error) {
  std::string problem = error.context.text();
  if (error.kind == Errc::too_long) problem = "is too long";
  if (error.kind == Errc::os) problem = std::generic_category().message(error.os_errno);
  return tl::unexpected(Error{Errc::config, error.os_errno, path + ": " + problem});
}

}  // namespace rdma_exporter::core
