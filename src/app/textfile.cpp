// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/textfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "host/fs/fd.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

constexpr mode_t kReadableByAll = 0644;

core::Result<void> write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return core::os_error(errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// What was left behind by a process that was killed is not reused: it could be anybody's link.
core::Result<void> write_new_file(const std::string& path, std::string_view content) {
  ::unlink(path.c_str());
  const host::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadableByAll));
  if (!file.valid()) return core::os_error(errno);
  if (const auto done = write_all(file.get(), content); !done) return done;
  // The mode whatever the umask is; the content before the name.
  if (::fchmod(file.get(), kReadableByAll) != 0 || ::fsync(file.get()) != 0) return core::os_error(errno);
  return {};
}

void sync_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const host::Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) ::fsync(directory.get());  // some file systems cannot
}

}  // namespace

core::Result<void> replace_file(const std::string& path, std::string_view content) {
  // In the same directory, so that the rename is one step; node_exporter reads *.prom only.
  const std::string temporary = path + ".tmp";
  auto done = write_new_file(temporary, content);
  if (done && ::rename(temporary.c_str(), path.c_str()) != 0) done = core::os_error(errno);
  if (done) {
    sync_directory(path);
  } else {
    done.error().context = path;
    ::unlink(temporary.c_str());
  }
  return done;
}

Textfile::Textfile(asio::io_context& io, web::MetricsSource& source, const config::Config& config)
    : io_(io), source_(source), path_(config.textfile), timer_(io) {
  configure(config);
}

void Textfile::configure(const config::Config& config) {
  interval_ = config.interval;
  timeout_ = std::min(config.scrape.timeout, config.interval);
}

void Textfile::start() {
  next_ = std::chrono::steady_clock::now();
  collect();
}

void Textfile::collect() {
  source_.metrics({}, std::chrono::steady_clock::now() + timeout_,
                  [this](const core::Result<web::MetricsSource::Page>& page) {
                    note(*page ? replace_file(path_, (*page)->body) : core::os_error(ENOMEM, path_));
                  });
}

void Textfile::note(const core::Result<void>& done) {
  if (!done && !std::exchange(failing_, true))
    log::error("cannot write the text file", {{"error", core::to_string(done.error())}});
  refused_ = !done && !written_;
  if (refused_) return io_.stop();
  if (done && (!std::exchange(written_, true) || std::exchange(failing_, false)))
    log::info("writing the text file", {{"path", path_}});
  wait();
}

// At a steady pace: a collection that took longer than the interval costs its turn.
void Textfile::wait() {
  while (next_ <= std::chrono::steady_clock::now()) next_ += interval_;
  timer_.expires_at(next_);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) collect();
  });
}

bool Textfile::end() {
  if (written_) ::unlink(path_.c_str());
  return !refused_;
}

}  // namespace rdma_exporter::app
