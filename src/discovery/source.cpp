// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/source.h"

#include <glob.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "core/text/regular_file.h"
#include "http/client/client.h"

namespace rdma_exporter::discovery {
namespace {

// Not IN_MODIFY: who writes in place would be read in the middle of it.
constexpr std::uint32_t kChanges = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE;

thread_local int unreadable_errno = 0;  // glob(3) hands its callback nothing of the caller's

struct GlobFree {
  void operator()(glob_t* found) const { ::globfree(found); }
};

// The files that match. An error where a directory cannot be read: its files may still be there.
core::Result<std::vector<std::string>> matching(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, GlobFree> owner(&found);
  const int failed = ::glob(
      pattern.c_str(), 0,
      [](const char*, int error) {
        unreadable_errno = error;
        return 1;
      },
      &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  if (failed == GLOB_ABORTED) return core::os_error(unreadable_errno, pattern);
  if (failed == GLOB_NOSPACE) return core::os_error(ENOMEM, pattern);
  return paths;
}

core::Result<TargetList> read_list(const std::string& path) {
  return core::RegularFile::open(path)
      .and_then([](const auto& file) { return file.read(kMaxListBytes); })
      .and_then(parse_target_list);
}

bool ipv4(const std::string& address) { return address.find(':') == std::string::npos; }

constexpr std::chrono::seconds kHttpTime{10};

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
    problem.context = path + (problem.context.empty() ? "" : " " + problem.context.text());
    reading.problems.push_back(std::move(problem));
    if (const auto before = files_.find(path); before != files_.end()) now[path] = before->second;
  }
  files_ = std::move(now);
  reading.targets.emplace();
  for (const auto& [path, list] : files_)
    reading.targets->insert(reading.targets->end(), list.begin(), list.end());
  return reading;
}

TargetGroup group_of(std::vector<std::string> addresses, std::uint16_t port) {
  const bool any_ipv4 = std::any_of(addresses.begin(), addresses.end(), ipv4);
  TargetGroup group;
  for (std::string& address : addresses)
    if (!any_ipv4 || ipv4(address)) group.targets.push_back({std::move(address), port});
  return group;
}

Reading DnsSource::read() {
  auto addresses = resolve(name_.host);
  if (!addresses) return {std::nullopt, {std::move(addresses.error())}};
  return {TargetList{group_of(std::move(*addresses), name_.port)}, {}};
}

core::Result<std::string> fetch(const http::Url& url, const std::string& authority_file,
                                std::chrono::milliseconds time, std::chrono::seconds refresh) {
  http::ClientRequest request;
  request.headers = {{"Accept", "application/json"},
                     {"X-Prometheus-Refresh-Interval-Seconds", std::to_string(refresh.count())}};
  request.max_bytes = kMaxListBytes;
  auto answer = http::ask(url, {.authority_file = authority_file}, request, time);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (answer->status != 200) return core::parse_error("returned status " + std::to_string(answer->status));
  return std::move(answer->body);
}

Reading HttpSource::read() {
  auto list = fetch(url_, authority_file_, kHttpTime, refresh_).and_then(parse_target_list);
  if (list) return {std::move(*list), {}};
  return {std::nullopt, {std::move(list.error())}};
}

}  // namespace rdma_exporter::discovery
