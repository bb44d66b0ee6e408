// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exporter.h"
#include "app/process_state.h"
#include "app/setup/setup.h"
#include "app/system/process.h"
#include "app/system/service_manager.h"
#include "app/textfile.h"
#include "asio/asio.h"
#include "config/config.h"
#include "core/result.h"
#include "http/server.h"
#include "task/loop_tasks.h"
#include "web/metrics_source.h"
#include "web/policy/security.h"
#include "web/routes.h"

namespace rdma_exporter::app {

/// The running daemon: the exporter of the present configuration, where its metrics go (the HTTP server, or
/// the text file), the signals. Functions on the io thread.
///
/// A reload (SIGHUP, POST /-/reload) loads the configuration on a thread of its own, builds a whole new
/// exporter beside the old one and swaps them; the old one answers the scrapes it has begun and ends when its
/// workers have. Nothing changes when any step fails. Who asks while a reload goes on gets one of their own
/// behind it: the last state of the file wins.
class Daemon final : public web::MetricsSource {
 public:
  /// Reads flags and file again and queries the host where needed; called on any thread. The error is a
  /// message for a person.
  using Load = std::function<core::Result<Setup>()>;

  Daemon(asio::io_context& io, const Setup& setup, Load load);

  /// Listens, begins the first collection and waits for signals. The error is a message for a person.
  core::Result<void> start();
  /// After the event loop has ended: false when threads are still stuck in the kernel at `deadline`; then
  /// destructors must not run.
  bool finish(std::chrono::steady_clock::time_point deadline);
  /// False when the text file could not be written at the start.
  bool served() const { return served_; }

  void metrics(const web::MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
               Answer answer) override;
  std::size_t missing_room() const override { return state_.pages->missing(); }
  bool ready() const override { return ready_; }
  void host_page(HostPage kind, HostPageAnswer answer) override;
  void reload(ReloadAnswer answer) override;

 private:
  core::Result<void> listen();
  void collect_first();
  void wait_for_signal();
  void feed_watchdog(std::chrono::microseconds interval);
  std::string status() const;
  void begin_stop(int signal);
  void wait_for_responses();
  void begin_reload();
  void end_reload(const core::Result<Setup>& loaded);
  void finish_reload(const core::Result<void>& result);
  core::Result<void> apply(const Setup& setup);
  core::Result<void> check_reach(const config::Config& config) const;
  core::Result<void> reconfigure_output(const Setup& setup);
  core::Result<void> reconfigure_server(const Setup& setup);
  std::shared_ptr<Exporter> make_exporter(const Setup& setup);
  void retire(std::shared_ptr<Exporter> exporter);
  void end_retired();

  const ServiceManager service_manager_;
  asio::io_context& io_;
  const Load load_;
  config::Config config_;
  probe::AgentOptions probe_options_;
  OpenFiles files_;
  ProcessState state_;
  std::shared_ptr<Exporter> exporter_;
  std::vector<std::shared_ptr<Exporter>> retired_;  ///< of earlier configurations, not ended yet
  task::LoopTasks loads_;                           ///< of the configuration, those given up included
  task::LoopTasks page_maker_;                      ///< of pages for people
  std::map<unsigned, HostPageAnswer> page_answers_;
  unsigned host_pages_ = 0;  ///< begun
  web::Routes routes_;
  web::Security security_;
  http::Server server_;
  std::optional<Textfile> textfile_;  ///< instead of listening
  asio::signal_set signals_;
  asio::steady_timer stop_timer_;
  asio::steady_timer retired_timer_;
  asio::steady_timer reload_timer_;
  asio::steady_timer watchdog_timer_;
  std::chrono::steady_clock::time_point stop_until_;
  bool ready_ = false;
  bool served_ = true;
  bool reloading_ = false;
  std::vector<ReloadAnswer> answers_;  ///< of who asked for the reload that goes on
  std::vector<ReloadAnswer> waiting_;  ///< of who asked for another one since
  unsigned reloads_ = 0;               ///< begun; the number of the one that goes on
};

}  // namespace rdma_exporter::app
