// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/background_pool.h"
#include "app/self_metrics.h"
#include "asio/asio.h"
#include "collectors/collector_set.h"
#include "config/config.h"
#include "core/result.h"
#include "host/host.h"
#include "net/http_counters.h"
#include "net/metrics_source.h"
#include "scrape/engine.h"

namespace rdma_exporter::app {

/// What an exporter is made for.
enum class Purpose : unsigned char {
  serve,  ///< many collections: what happens between them is listened to
  once,   ///< a single one
};

/// The exporter without its sockets: host, collectors and engine wired together. Functions of MetricsSource
/// on the io thread; jobs() on a worker.
class Exporter final : public net::MetricsSource, public scrape::JobSource {
 public:
  /// What the parser of the configuration cannot know: that directories exist. The error is a message.
  static core::Result<void> check(const config::Config& config);
  /// `config` has passed check().
  static std::unique_ptr<Exporter> make(const config::Config& config, unsigned kept_files,
                                        asio::io_context& io, Purpose purpose);

  void metrics(net::MetricsRequest request, std::chrono::steady_clock::time_point deadline,
               Answer answer) override;
  bool ready() const override { return ready_; }
  std::string landing_page() const override;

  core::Result<std::shared_ptr<const scrape::PlannedJobs>> jobs(core::JobRun& run) override;

  void set_ready(bool ready) { ready_ = ready; }
  /// As of the last collection.
  std::vector<std::string> device_names() const;
  net::HttpCounters& http_counters() { return http_; }
  /// Ends the workers, what runs in the background, and the reader of events. See scrape::Engine::stop().
  bool stop(std::chrono::steady_clock::time_point deadline);

 private:
  Exporter(const config::Config& config, unsigned kept_files, asio::io_context& io, Purpose purpose);

  const config::Config config_;
  host::Host host_;
  BackgroundPool background_;
  collectors::Context context_;
  collectors::CollectorSet collectors_;
  std::shared_ptr<const scrape::PlannedJobs> planned_;
  bool unreachable_logged_ = false;
  mutable std::mutex names_mutex_;
  std::vector<std::string> names_;
  net::HttpCounters http_;
  SelfMetrics self_metrics_;
  std::atomic<bool> ready_{false};
  scrape::Engine engine_;  // last: its workers use everything above
};

}  // namespace rdma_exporter::app
