// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/file_source.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace rdma_exporter::discovery {
namespace {

// Not IN_MODIFY: who writes in place would be read in the middle of it.
constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return paths;
}

core::Result<std::string> read_all(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return core::os_error(errno);
  if (!S_ISREG(status.st_mode)) return core::os_error(S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  std::string text;
  std::array<char, 65'536> part{};
  for (;;) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return core::os_error(errno);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxListBytes) return core::too_long_error();
  }
}

core::Result<TargetList> read_file(const std::string& path) {
  // A pipe would wait for its writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return core::os_error(errno);
  const auto text = read_all(fd);
  ::close(fd);
  return text ? parse_target_list(*text) : tl::unexpected(text.error());
}

}  // namespace

FileSource::FileSource(std::string pattern)
    : pattern_(std::move(pattern)), watch_fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

FileSource::~FileSource() {
  if (watch_fd_ >= 0) ::close(watch_fd_);
}

// Before the files are read, so that nothing that happens meanwhile is missed. A directory that came back is
// another one, which is why this is done each time; of the same one it changes nothing.
void FileSource::watch() {
  if (watch_fd_ < 0) return;
  std::array<char, 4096> events{};
  while (::read(watch_fd_, events.data(), events.size()) > 0) {
  }
  const auto slash = pattern_.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : pattern_.substr(0, slash + 1);
  ::inotify_add_watch(watch_fd_, directory.c_str(), kChanges);
}

Reading FileSource::read() {
  watch();
  Reading reading;
  std::map<std::string, TargetList> now;
  for (const std::string& path : matching(pattern_)) {
    auto list = read_file(path);
    if (list) {
      now[path] = std::move(*list);
      continue;
    }
    core::Error problem = std::move(list.error());
    problem.context = path + (problem.context.empty() ? "" : " " + problem.context);
    reading.problems.push_back(std::move(problem));
    if (const auto before = files_.find(path); before != files_.end()) now[path] = before->second;
  }
  files_ = std::move(now);
  reading.targets.emplace();
  for (const auto& [path, list] : files_)
    reading.targets->insert(reading.targets->end(), list.begin(), list.end());
  return reading;
}

}  // namespace rdma_exporter::discovery
