// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/web_config_file.h"

#include <chrono>
#include <utility>

#include "log/log.h"

namespace rdma_exporter::net {
namespace {

constexpr std::chrono::seconds kPause{1};
constexpr std::size_t kMostQueued = 4;  // the look, and reloads that somebody asked for

}  // namespace

WebConfigFile::WebConfigFile(asio::io_context& io, std::string path, Gate& gate, HttpCounters& counters)
    : path_(std::move(path)), gate_(gate), counters_(counters), timer_(io), worker_(io, kMostQueued) {}

core::Result<void> WebConfigFile::load() {
  const auto policy = read(path_, *seen_);
  counters_.count_web_config(policy.has_value());
  if (!policy) return core::config_error("--web.config.file: " + policy.error().context);
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
  if (looking_) return;  // the last one has not come back: the file system hangs
  looking_ = worker_.submit([weak = weak_from_this(), seen = seen_, path = path_]() -> Worker::Finish {
    if (!is_to_be_read(*seen)) {
      return [weak] {
        if (const auto self = weak.lock()) self->looking_ = false;
      };
    }
    return [weak, policy = read(path, *seen)] {
      const auto self = weak.lock();
      if (!self) return;
      self->looking_ = false;
      (void)self->use(policy);  // logged and counted there
    };
  });
}

void WebConfigFile::reload(Answer answer) {
  auto job = [weak = weak_from_this(), seen = seen_, path = path_, answer]() -> Worker::Finish {
    return [weak, answer, policy = read(path, *seen)] {
      if (const auto self = weak.lock()) answer(self->use(policy));
    };
  };
  if (!worker_.submit(std::move(job)))
    answer(core::config_error("--web.config.file: " + path_ + ": too many reloads are under way"));
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

core::Result<void> WebConfigFile::use(const core::Result<std::shared_ptr<const Policy>>& loaded) {
  core::Result<void> done = loaded.map([](const auto&) {});
  if (done) done = may_follow(gate_.policy(), **loaded, path_);
  counters_.count_web_config(done.has_value());
  if (done) {
    gate_.use(*loaded);
    log::info("web config read again", {{"file", path_}});
  } else {
    log::error("the web config stays as it was", {{"error", core::to_string(done.error())}});
  }
  return done;
}

}  // namespace rdma_exporter::net
