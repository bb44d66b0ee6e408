// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/metrics/privileges.h"
#include "app/metrics/self_metrics.h"
#include "app/page/host_view.h"
#include "app/process_state.h"
#include "app/replay.h"
#include "app/setup/make_host.h"
#include "asio/asio.h"
#include "collectors/collector_set.h"
#include "config/config.h"
#include "core/result.h"
#include "host/host.h"
#include "scrape/engine.h"
#include "task/pool.h"
#include "web/metrics_source.h"

namespace rdma_exporter::app {

/// What serves one configuration, without sockets: host, collectors and engine wired together. Functions on
/// the io thread; jobs() on a worker.
class Exporter final : public scrape::JobSource {
 public:
  /// `config` has passed check_host(); `replay` as Replay::open() gave it; `state` outlives the exporter.
  static std::unique_ptr<Exporter> make(const config::Config& config, std::shared_ptr<Replay> replay,
                                        unsigned kept_files, asio::io_context& io, Purpose purpose,
                                        ProcessState& state);
  /// The same on another host; `replay` when it is a recorded one.
  static std::unique_ptr<Exporter> make(const config::Config& config,
                                        const std::function<host::Host()>& make_host, asio::io_context& io,
                                        Purpose purpose, ProcessState& state,
                                        std::shared_ptr<Replay> replay = nullptr);

  using Answer = web::MetricsSource::Answer;
  /// See web::MetricsSource.
  void metrics(const web::MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
               Answer answer);
  /// Makes a page for people on the calling thread, which may be any: the function owns what it needs.
  std::function<std::string()> host_page(web::MetricsSource::HostPage kind) const;

  core::Result<std::shared_ptr<const scrape::PlannedJobs>> jobs(core::JobRun& run) override;

  /// As of the last collection.
  std::vector<std::string> device_names() const;
  /// No scrape is waiting for an answer.
  bool idle() const { return engine_.idle(); }
  /// Ends the workers, what runs in the background, and the reader of events. See scrape::Engine::stop().
  bool stop(std::chrono::steady_clock::time_point deadline);

 private:
  Exporter(const config::Config& config, const std::function<host::Host()>& make_host, asio::io_context& io,
           Purpose purpose, ProcessState& state, std::shared_ptr<Replay> replay);
  void check_privileges();
  void warn_about_filters();
  void explain_no_devices();

  const config::Config config_;
  const std::shared_ptr<Replay> replay_;  ///< nullptr when this is no recording that plays
  host::Host host_;
  task::Pool background_{task::kBackgroundPool};
  const std::shared_ptr<HostView> view_;
  collectors::Context context_;
  collectors::CollectorSet collectors_;
  std::shared_ptr<const scrape::PlannedJobs> planned_;
  bool unreachable_logged_ = false;
  bool filters_logged_ = false;
  bool no_devices_logged_ = false;
  mutable std::mutex names_mutex_;
  std::vector<std::string> names_;
  std::shared_ptr<Privileges> privileges_ = std::make_shared<Privileges>();
  /// Checks of privileges that were wanted since the last one began; 0: none goes on.
  std::shared_ptr<std::atomic<unsigned>> wanted_checks_ = std::make_shared<std::atomic<unsigned>>(0);
  SelfMetrics self_metrics_;
  scrape::Engine engine_;  // last: its workers use everything above
};

}  // namespace rdma_exporter::app
