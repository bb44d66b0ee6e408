// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/sources.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "core/seconds.h"
#include "discovery/source.h"
#include "log/log.h"

namespace rdma_exporter::discovery {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kFile = "file_sd";
constexpr std::string_view kDns = "dns_sd";
constexpr std::string_view kHttp = "http_sd";

// `text` has passed check().
std::unique_ptr<Source> make_source(std::string_view kind, const std::string& text,
                                    const SourceOptions& options) {
  if (kind == kFile) return std::make_unique<FileSource>(text);
  if (kind == kDns) return std::make_unique<DnsSource>(parse_address(text).value_or(Address{}));
  return std::make_unique<HttpSource>(http::parse_url(text).value_or(http::Url{}), options.authority_file,
                                      options.refresh);
}

template <typename Visit>
void for_each_text(const SourceOptions& options, Visit visit) {
  for (const std::string& text : options.files) visit(kFile, text);
  for (const std::string& text : options.names) visit(kDns, text);
  for (const std::string& text : options.urls) visit(kHttp, text);
}

}  // namespace

core::Result<void> check(const SourceOptions& options) {
  for (const std::string& name : options.names)
    if (const auto good = parse_address(name); !good)
      return core::config_error("--probe.discovery.names: \"" + name + "\" " + good.error().context.text());
  for (const std::string& url : options.urls)
    if (const auto good = http::parse_url(url); !good)
      return core::config_error("--probe.discovery.urls: a URL " + good.error().context.text());
  for (const std::string& pattern : options.files) {
    const auto slash = pattern.rfind('/');
    if (slash != std::string::npos && pattern.substr(0, slash).find_first_of("*?[") != std::string::npos)
      return core::config_error("--probe.discovery.files: \"" + pattern +
                                "\" has wildcards in its directory part");
  }
  return {};
}

// One source and its thread, which holds it: a thread that hangs outlives whoever started it.
class Sources::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(std::string_view kind, const std::string& text, const SourceOptions& options,
      std::function<void()> changed)
      : source_(make_source(kind, text, options)),
        refresh_(options.refresh),
        stop_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        changed_(std::move(changed)) {
    status_.kind = kind;
    status_.name = text;
  }
  ~Job() { ::close(stop_fd_); }

  void start(TargetList known) {
    status_.known = !known.empty();
    keep(std::move(known));
    try {
      std::thread([self = shared_from_this()] { self->run(); }).detach();
    } catch (const std::system_error& error) {
      log::error("cannot start the discovery of targets",
                 {{"source", status_.name}, {"error", error.what()}});
    }
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    changed_ = nullptr;
    ::eventfd_write(stop_fd_, 1);
  }
  SourceStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  TargetList targets() const {
    const std::lock_guard lock(mutex_);
    return targets_;
  }

 private:
  void run() {
    while (take(read())) wait();
  }

  // An exception, for lack of memory, is a failed reading.
  Reading read() {
    try {
      return source_->read();
    } catch (const std::exception& error) {
      return {std::nullopt, {core::Error{core::Errc::os, ENOMEM, error.what()}}};
    }
  }

  // False when nobody wants it any more.
  bool take(Reading reading) {
    complain(reading.problems);
    const std::lock_guard lock(mutex_);
    if (!changed_) return false;
    status_.failing = !reading.problems.empty();
    for (const core::Error& problem : reading.problems) ++status_.failures[core::reason(problem)];
    if (!status_.failing) status_.last_success = core::seconds_since_epoch();
    if (reading.targets && (!std::exchange(status_.known, true) || *reading.targets != targets_)) {
      keep(std::move(*reading.targets));
      changed_();
    }
    return true;
  }

  void keep(TargetList targets) {
    targets_ = std::move(targets);
    status_.targets = 0;
    for (const TargetGroup& group : targets_) status_.targets += group.targets.size();
  }

  // Each problem once, until it is over.
  void complain(const std::vector<core::Error>& problems) {
    std::set<std::string> now;
    for (const core::Error& problem : problems) now.insert(core::to_string(problem));
    for (const std::string& problem : now)
      if (!complaints_.contains(problem))
        log::warn("targets cannot be read, keeping those known before",
                  {{"kind", status_.kind}, {"source", status_.name}, {"error", problem}});
    if (now.empty() && !complaints_.empty())
      log::info("targets can be read again", {{"kind", status_.kind}, {"source", status_.name}});
    complaints_ = std::move(now);
  }

  // A tenth early or late, so that the hosts of a fleet do not ask together.
  void wait() {
    std::array<pollfd, 2> fds{pollfd{stop_fd_, POLLIN, 0}, pollfd{source_->change_fd(), POLLIN, 0}};
    const std::chrono::duration<double, std::milli> refresh = refresh_;
    const double jitter = std::uniform_real_distribution<double>(0.9, 1.1)(generator_);
    ::poll(fds.data(), fds.size(), static_cast<int>(refresh.count() * jitter));
  }

  const std::unique_ptr<Source> source_;
  const std::chrono::seconds refresh_;
  const int stop_fd_;
  std::minstd_rand generator_{std::random_device{}()};
  std::set<std::string> complaints_;
  mutable std::mutex mutex_;
  std::function<void()> changed_;
  SourceStatus status_;  // kind and name never change
  TargetList targets_;
};

void Sources::configure(const SourceOptions& options) {
  const bool anew = options.refresh != options_.refresh || options.authority_file != options_.authority_file;
  options_ = options;
  auto before = std::exchange(jobs_, {});
  for_each_text(options, [&](std::string_view kind, const std::string& text) {
    const std::pair key(std::string(kind), text);
    if (jobs_.contains(key)) return;
    auto old = before.extract(key);
    if (old && !anew) {
      jobs_.insert(std::move(old));
      return;
    }
    TargetList known;
    if (old) {
      known = old.mapped()->targets();
      before.insert(std::move(old));
    }
    const auto job = std::make_shared<Job>(kind, text, options, changed_);
    jobs_[key] = job;
    job->start(std::move(known));
  });
  std::erase_if(ending_, [](const auto& job) { return job.expired(); });
  for (const auto& [key, job] : before) {
    job->stop();
    ending_.push_back(job);
  }
}

void Sources::stop() { configure({}); }

TargetList Sources::targets() const {
  TargetList all;
  for (const auto& [key, job] : jobs_) {
    const TargetList targets = job->targets();
    all.insert(all.end(), targets.begin(), targets.end());
  }
  return all;
}

std::vector<SourceStatus> Sources::status() const {
  std::vector<SourceStatus> all;
  for (const auto& [key, job] : jobs_) all.push_back(job->status());
  return all;
}

bool Sources::idle() const {
  for (const auto& job : ending_)
    if (!job.expired()) return false;
  return true;
}

}  // namespace rdma_exporter::discovery
