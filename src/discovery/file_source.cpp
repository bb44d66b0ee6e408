// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/file_source.h"

#include <glob.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/text/regular_file.h"

namespace rdma_exporter::discovery {
namespace {

// Not IN_MODIFY: who writes in place would be read in the middle of it.
constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;

thread_local int unreadable_errno = 0;  // glob(3) hands its callback nothing of the caller's

// The files that match. An error where a directory cannot be read: its files may still be there.
core::Result<std::vector<std::string>> matching(const std::string& pattern) {
  glob_t found{};
  const int failed = ::glob(
      pattern.c_str(), 0,
      [](const char*, int error) {
        unreadable_errno = error;
        return 1;
      },
      &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (failed == GLOB_ABORTED) return core::os_error(unreadable_errno, pattern);
  if (failed == GLOB_NOSPACE) return core::os_error(ENOMEM, pattern);
  return paths;
}

core::Result<TargetList> read_list(const std::string& path) {
  return core::RegularFile::open(path)
      .and_then([](const auto& file) { return file.read(kMaxListBytes); })
      .and_then(parse_target_list);
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
  const auto paths = matching(pattern_);
  if (!paths) return {std::nullopt, {paths.error()}};
  for (const std::string& path : *paths) {
    auto list = read_list(path);
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
