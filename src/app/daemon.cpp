// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/daemon.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <utility>

#include "app/setup/probe_options.h"
#include "app/setup/setup.h"
#include "app/system/memory.h"
#include "app/system/process.h"
#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kGraceForResponses = 1000ms;
constexpr auto kRetiredInterval = 20ms;
// A local file takes milliseconds; longer than this its file system does not answer.
constexpr auto kTimeToRead = 10s;
constexpr unsigned kMaxLoads = 4;
// Each holds its workers and what it remembers of the devices.
constexpr std::size_t kMaxRetired = 4;
// Pages for people that wait to be made; each takes milliseconds.
constexpr std::size_t kMaxPagesToMake = 8;

OpenFiles open_files(const config::Config& config) {
  return raise_open_file_limit({config.limits.kept_files, config.web.max_connections});
}

http::ServerOptions server_options(const Setup& setup, const OpenFiles& files) {
  const config::Config& config = setup.config;
  http::ServerOptions options;
  options.listen_addresses = setup.listen_addresses;
  options.systemd_sockets = config.web.systemd_socket;
  options.max_connections = files.connections;
  options.max_requests = config.web.max_requests_per_connection;
  options.read_timeout = config.web.read_timeout;
  options.write_timeout = config.web.write_timeout;
  options.idle_timeout = config.web.idle_timeout;
  options.max_header_bytes = config.web.max_header_bytes;
  return options;
}

web::RouteOptions route_options(const config::Config& config) {
  return {config.web.telemetry_path,
          {config.scrape.timeout, config.scrape.timeout_offset},
          config.web.enable_lifecycle};
}

// Whether both ask for the same exporter: then its workers and what it remembers of wrapped counters stay.
bool same_exporter(config::Config a, config::Config b) {
  for (config::Config* config : {&a, &b}) {
    const bool created = config->web.openmetrics_created;
    config->web = {};
    config->web.openmetrics_created = created;
    config->log = {};
    config->interval = {};
    config->scrape = {};
    config->probe = {};
  }
  return a == b;
}

}  // namespace

Daemon::Daemon(asio::io_context& io, const Setup& setup, Load load)
    : io_(io),
      load_(std::move(load)),
      config_(setup.config),
      probe_options_(setup.probe),
      files_(open_files(config_)),
      state_{.probe = probe::Agent(preset_class(config_.path.sysfs))},
      exporter_(make_exporter(setup)),
      loads_(io, kMaxLoads, 0),
      page_maker_(io, 1, kMaxPagesToMake),
      routes_(*this, route_options(config_)),
      security_(io, config_.web.config_file, files_.connections, state_.http),
      server_(io, server_options(setup, files_), routes_, state_.http, security_.access()),
      signals_(io, SIGTERM, SIGINT, SIGHUP),
      stop_timer_(io),
      retired_timer_(io),
      reload_timer_(io),
      watchdog_timer_(io) {
  state_.pages->set_limit(config_.limits.pages_in_flight_bytes);
  if (!config_.textfile.empty()) textfile_.emplace(io_, *this, config_);
}

core::Result<void> Daemon::listen() {
  if (auto loaded = security_.load(); !loaded) return loaded;
  if (auto listening = server_.listen(); !listening) return listening;
  security_.watch();
  for (const std::string& address : server_.bound_addresses())
    log::info("listening", {{"address", address},
                            {"path", config_.web.telemetry_path},
                            {"tls", security_.has_tls() ? "true" : "false"},
                            {"passwords", security_.has_passwords() ? "true" : "false"}});
  return {};
}

core::Result<void> Daemon::start() {
  wait_for_signal();
  let_hangup_through();
  if (auto probing = state_.probe.configure(probe_options_); !probing) return probing;
  if (textfile_) {
    textfile_->start();
  } else {
    if (auto listening = listen(); !listening) return listening;
    ready_ = true;
    collect_first();
  }
  service_manager_.ready(status());
  if (const auto interval = service_manager_.watchdog_interval()) feed_watchdog(*interval);
  return {};
}

// Opens what later collections read, and fills the landing page.
void Daemon::collect_first() {
  // Weak: the exporter keeps the function until the collection ends, which a stop may come before.
  const std::weak_ptr<Exporter> weak = exporter_;
  exporter_->metrics({}, Clock::now() + config_.scrape.timeout, [weak](const auto&) {
    release_startup_memory();
    const auto exporter = weak.lock();
    if (!exporter) return;
    log::info("first collection finished", {{"devices", std::to_string(exporter->device_names().size())}});
  });
}

bool Daemon::finish(Clock::time_point deadline) {
  server_.close();  // before what may be stuck is waited for
  if (textfile_) served_ = textfile_->end();
  bool ended = exporter_->stop(deadline) && !reloading_;
  ended = loads_.stop(deadline) && ended;
  ended = state_.probe.stop(deadline) && ended;
  for (const auto& exporter : retired_) ended = exporter->stop(deadline) && ended;
  return ended;
}

void Daemon::metrics(const web::MetricsRequest& request, Clock::time_point deadline, Answer answer) {
  exporter_->metrics(request, deadline, std::move(answer));
}

// On a thread of its own: a large host takes milliseconds, which scrapes would wait for. A page that finds no
// memory is answered at once: tried again until there is some, it would keep its client and all others
// waiting.
void Daemon::host_page(HostPage kind, HostPageAnswer answer) {
  const unsigned number = ++host_pages_;
  task::LoopTasks::Job job =
      [this, make = kind == HostPage::probe ? state_.probe.sessions() : exporter_->host_page(kind),
       pages = state_.pages, number]() -> task::LoopTasks::Finish {
    Page page;
    try {
      if (pages->has_room()) page = pages->hold({make(), core::Format::text, false});
    } catch (const std::exception& error) {
      log::caught("a page could not be made", error);
    }
    return [this, page = std::move(page), number] { page_answers_.extract(number).mapped()(page); };
  };
  // Answers stay on this thread: they hold connections.
  page_answers_.emplace(number, std::move(answer));
  try {
    if (!page_maker_.submit(std::move(job))) page_answers_.extract(number).mapped()(nullptr);
  } catch (const std::bad_alloc&) {
    page_answers_.erase(number);
    throw;
  }
}

// The line of `systemctl status`.
std::string Daemon::status() const {
  if (textfile_) return "writing " + config_.textfile;
  std::string addresses;
  for (const std::string& address : server_.bound_addresses())
    addresses.append(addresses.empty() ? "" : ", ").append(address);
  return "serving " + config_.web.telemetry_path + " on " + addresses;
}

// From the event loop: systemd restarts the service when the loop stands still. A read that is stuck in the
// kernel is on a worker and does not count.
void Daemon::feed_watchdog(std::chrono::microseconds interval) {
  service_manager_.alive();
  watchdog_timer_.expires_after(interval);
  watchdog_timer_.async_wait([this, interval](const boost::system::error_code& cancelled) {
    if (!cancelled) feed_watchdog(interval);
  });
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal != SIGHUP) return begin_stop(signal);
    // One that waits reads the file after this signal, too.
    if (waiting_.empty()) reload([](const core::Result<void>&) {});
    wait_for_signal();
  });
}

void Daemon::begin_stop(int signal) {
  log::info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
  ready_ = false;
  service_manager_.stopping();
  security_.stop();
  server_.stop();
  stop_until_ = Clock::now() + kGraceForResponses;
  wait_for_responses();
}

void Daemon::wait_for_responses() {
  if (server_.open_connections() == 0 || Clock::now() >= stop_until_) return io_.stop();
  stop_timer_.expires_after(10ms);
  stop_timer_.async_wait([this](const boost::system::error_code&) { wait_for_responses(); });
}

// The file may change while it is being read: who asks meanwhile has it read once more.
void Daemon::reload(ReloadAnswer answer) {
  waiting_.push_back(std::move(answer));
  if (!reloading_) begin_reload();
}

void Daemon::begin_reload() {
  reloading_ = true;
  answers_ = std::exchange(waiting_, {});
  service_manager_.reloading();
  const unsigned number = ++reloads_;
  // The file may be on a file system that hangs; scrapes go on meanwhile.
  auto job = [this, load = load_, number]() -> task::LoopTasks::Finish {
    return [this, loaded = load(), number] {
      if (reloading_ && number == reloads_) end_reload(loaded);
    };
  };
  if (!loads_.submit(std::move(job)))
    return finish_reload(core::config_error("earlier reloads are still reading their files"));
  reload_timer_.expires_after(kTimeToRead);
  reload_timer_.async_wait([this, number](const boost::system::error_code& cancelled) {
    if (cancelled || !reloading_ || number != reloads_) return;
    finish_reload(core::config_error("a configuration file could not be read within 10 s"));
  });
}

void Daemon::end_reload(const core::Result<Setup>& loaded) {
  if (!loaded) return finish_reload(tl::unexpected(loaded.error()));
  security_.prepare([this, setup = *loaded, number = reloads_](const auto& use_web_config) {
    if (!reloading_ || number != reloads_) return;
    if (!use_web_config) return finish_reload(tl::unexpected(use_web_config.error()));
    const auto applied = apply(setup);
    if (applied) (*use_web_config)();
    finish_reload(applied);
  });
}

void Daemon::finish_reload(const core::Result<void>& result) {
  reloading_ = false;
  reload_timer_.cancel();
  state_.reload.last_successful = result.has_value();
  if (result) {
    state_.reload.last_success_time = std::time(nullptr);
    log::info("configuration loaded");
  } else {
    log::error("configuration reload failed, keeping the previous configuration",
               {{"error", core::to_string(result.error())}});
  }
  release_startup_memory();
  service_manager_.ready(result ? status() : status() + "; the last reload failed");
  for (const ReloadAnswer& answer : std::exchange(answers_, {})) answer(result);
  if (!reloading_ && !waiting_.empty()) begin_reload();
}

core::Result<void> Daemon::apply(const Setup& setup) {
  const config::Config& config = setup.config;
  if (const auto checked = check_reach(config); !checked) return checked;
  // The probe opens adapters by names from there, once.
  if (setup.probe.wanted() && config.path.sysfs != config_.path.sysfs)
    return core::config_error("--path.sysfs: a change requires a restart while the probe is on");
  files_ = open_files(config);
  std::shared_ptr<Exporter> next;
  if (!same_exporter(config, config_)) {
    if (retired_.size() >= kMaxRetired)
      return core::config_error("reads started under earlier configurations are still stuck in the kernel");
    next = make_exporter(setup);
  }
  if (auto changed = state_.probe.configure(setup.probe); !changed) return changed;
  // The last step that can fail.
  if (auto changed = reconfigure_output(setup); !changed) {
    state_.probe.configure(probe_options_);
    return changed;
  }
  setup_log(config.log);
  state_.pages->set_limit(config.limits.pages_in_flight_bytes);
  routes_.configure(route_options(config));
  config_ = config;
  probe_options_ = setup.probe;
  if (next) retire(std::exchange(exporter_, std::move(next)));
  return {};
}

// A file that was emptied, or cut short, says nothing of where to listen. The default is all addresses.
core::Result<void> Daemon::check_reach(const config::Config& config) const {
  const auto& defaults = config::WebConfig{}.listen_addresses;
  if (config.web.listen_addresses != defaults || config_.web.listen_addresses == defaults) return {};
  return core::config_error(
      "--web.listen-address is no longer set: going back to the default, all addresses, requires a restart");
}

core::Result<void> Daemon::reconfigure_output(const Setup& setup) {
  const config::Config& config = setup.config;
  if (config.textfile != config_.textfile)
    return core::config_error("--textfile: a change requires a restart");
  if (!textfile_) return reconfigure_server(setup);
  textfile_->configure(config);
  return {};
}

core::Result<void> Daemon::reconfigure_server(const Setup& setup) {
  if (setup.config.web.config_file != config_.web.config_file)
    return core::config_error("--web.config.file: a change of the file name requires a restart");
  return server_.reconfigure(server_options(setup, files_));
}

std::shared_ptr<Exporter> Daemon::make_exporter(const Setup& setup) {
  return Exporter::make(setup.config, setup.replay, files_.kept_files, io_, Purpose::serve, state_);
}

void Daemon::retire(std::shared_ptr<Exporter> exporter) {
  retired_.push_back(std::move(exporter));
  if (retired_.size() == 1) end_retired();
}

// Without waiting: what is not finished is looked after again later.
void Daemon::end_retired() {
  std::erase_if(retired_,
                [](const auto& exporter) { return exporter->idle() && exporter->stop(Clock::now()); });
  if (retired_.empty()) return;
  retired_timer_.expires_after(kRetiredInterval);
  retired_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) end_retired();
  });
}

}  // namespace rdma_exporter::app
