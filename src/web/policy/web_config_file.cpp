// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/web_config_file.h"

#include <chrono>
#include <utility>

#include "config/yaml/file.h"
#include "log/log.h"

namespace rdma_exporter::web {
namespace {

constexpr std::chrono::seconds kPause{1};
constexpr std::chrono::seconds kLateLook{10};
constexpr std::size_t kMaxQueued = 4;  // the look, and reloads that somebody asked for

}  // namespace

WebConfigFile::WebConfigFile(asio::io_context& io, std::string path, Gate& gate, http::HttpCounters& counters)
    : path_(std::move(path)), gate_(gate), counters_(counters), timer_(io), tasks_(io, 1, kMaxQueued) {}

core::Result<void> WebConfigFile::load() {
  const auto policy = read(path_, *seen_);
  counters_.count_web_config(policy.has_value());
  if (!policy) return config::error_at("--web.config.file", policy.error());
  guard_.accept(**policy);
  gate_.use(*policy);
  return {};
}

void WebConfigFile::start() { wait(); }

void WebConfigFile::stop() {
  stopped_ = true;
  timer_.cancel();
}

void WebConfigFile::wait() {
  timer_.expires_after(kPause);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code&) {
    if (self->stopped_) return;
    self->look();
    self->wait();
  });
}

void WebConfigFile::look() {
  if (looking_) return report_late_look();
  look_began_ = std::chrono::steady_clock::now();
  const bool anyway = std::exchange(read_anyway_, false);
  looking_ = tasks_.submit(
      [weak = weak_from_this(), seen = seen_, path = path_, anyway]() -> task::LoopTasks::Finish {
        if (!is_to_be_read(*seen) && !anyway) {
          return [weak] {
            if (const auto self = weak.lock()) self->end_look();
          };
        }
        return [weak, policy = read(path, *seen)] {
          const auto self = weak.lock();
          if (!self) return;
          self->end_look();
          if (self->check(policy)) self->take(*policy);
        };
      });
}

// The last one has not come back: the file system hangs, and nobody knows what the file says.
void WebConfigFile::report_late_look() {
  if (late_ || std::chrono::steady_clock::now() - look_began_ < kLateLook) return;
  late_ = true;
  counters_.count_web_config(false);
  log::error("the web config file cannot be read: its file system does not respond", {{"file", path_}});
}

// A look that was late says nothing of whether the file is good: the next one reads it whatever it sees.
void WebConfigFile::end_look() {
  looking_ = false;
  if (std::exchange(late_, false)) read_anyway_ = true;
}

void WebConfigFile::prepare(const Prepared& answer) {
  auto job = [weak = weak_from_this(), seen = seen_, path = path_, answer]() -> task::LoopTasks::Finish {
    return [weak, answer, policy = read(path, *seen)] {
      const auto self = weak.lock();
      if (!self) return;
      if (const auto checked = self->check(policy); !checked) return answer(tl::unexpected(checked.error()));
      self->read_anyway_ = true;  // where it is not used now, the next look does
      answer([weak, policy = *policy] {
        if (const auto still = weak.lock()) still->take(policy);
      });
    };
  };
  if (!tasks_.submit(std::move(job)))
    answer(core::config_error("--web.config.file: " + path_ + ": too many reloads are in progress"));
}

/// A change is acted upon at the look after the one that saw it: who writes a certificate and then its key,
/// or a file in two pieces, is done by then.
bool WebConfigFile::is_to_be_read(Seen& seen) {
  std::vector<FileStamp> now;
  for (const std::string& file : seen.files) now.push_back(stamp_of(file));
  const bool settled = now == seen.latest;
  seen.latest = now;
  return settled && now != seen.read;
}

core::Result<std::shared_ptr<const Policy>> WebConfigFile::read(const std::string& path, Seen& seen) {
  LoadedPolicy loaded = load_policy(path);
  seen = Seen{std::move(loaded.files), loaded.stamps, loaded.stamps};
  return std::move(loaded.policy);
}

core::Result<void> WebConfigFile::check(const core::Result<std::shared_ptr<const Policy>>& loaded) {
  core::Result<void> done = loaded.map([](const auto&) {});
  if (done) done = guard_.check(gate_.policy(), **loaded, path_);
  if (!done) {
    counters_.count_web_config(false);
    log::error("web config reload failed, keeping the previous one",
               {{"error", core::to_string(done.error())}});
  }
  return done;
}

void WebConfigFile::take(const std::shared_ptr<const Policy>& policy) {
  read_anyway_ = false;
  counters_.count_web_config(true);
  guard_.accept(*policy);
  gate_.use(policy);
  log::info("web config reloaded", {{"file", path_}});
}

}  // namespace rdma_exporter::web
