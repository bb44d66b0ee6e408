// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/exporter.h"

#include <cerrno>
#include <exception>
#include <utility>

#include "app/metrics/families.h"
#include "app/page/page_head.h"
#include "app/setup/collector_settings.h"
#include "core/seconds.h"
#include "doctor/page/host_page.h"
#include "host/events/event_reader.h"
#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

// A recording that is opened again begins again, and its devices may be those of this host.
std::shared_ptr<collectors::CarryOver> carry_over(const config::Config& config, const ProcessState& state) {
  return config.replay.empty() ? state.carry_over : std::make_shared<collectors::CarryOver>();
}

// What a recording does not hold is not known.
std::shared_ptr<HostView> make_view(host::Host& host) {
  const auto setting = [&](const char* path) {
    return host.procfs ? host.procfs->read(path).value_or("") : std::string();
  };
  return std::make_shared<HostView>(setting("sys/kernel/hostname"), setting("sys/kernel/osrelease"));
}

scrape::EngineOptions engine_options(const config::Config& config, Purpose purpose, const ProcessState& state,
                                     std::shared_ptr<HostView> view) {
  scrape::EngineOptions options;
  // A single collection cannot go on with the devices of the one before.
  if (purpose == Purpose::once) options.discovery_timeout = config.scrape.timeout;
  options.pages = state.pages;
  options.max_workers = config.limits.workers;
  options.set = config.metrics.set;
  options.series_per_device = config.limits.series_per_device;
  options.page_bytes = config.limits.page_bytes;
  options.observer = [view = std::move(view)](const auto& batches, bool whole) {
    view->observe(batches, whole, HostView::Clock::now());
  };
  if (config.web.openmetrics_created) options.start_time = core::seconds_since_epoch();
  return options;
}

}  // namespace

std::unique_ptr<Exporter> Exporter::make(const config::Config& config, std::shared_ptr<Replay> replay,
                                         unsigned kept_files, asio::io_context& io, Purpose purpose,
                                         ProcessState& state) {
  if (!config.replay.empty())
    log::warn("serving a recording, not the values of this host", {{"recording", config.replay}});
  if (replay) replay->log();
  const auto player = replay ? replay->player() : nullptr;
  return make(
      config, [&] { return make_host(config, kept_files, purpose, player); }, io, purpose, state,
      std::move(replay));
}

std::unique_ptr<Exporter> Exporter::make(const config::Config& config,
                                         const std::function<host::Host()>& make_host, asio::io_context& io,
                                         Purpose purpose, ProcessState& state,
                                         std::shared_ptr<Replay> replay) {
  return std::unique_ptr<Exporter>(new Exporter(config, make_host, io, purpose, state, std::move(replay)));
}

Exporter::Exporter(const config::Config& config, const std::function<host::Host()>& make_host,
                   asio::io_context& io, Purpose purpose, ProcessState& state, std::shared_ptr<Replay> replay)
    : config_(config),
      replay_(std::move(replay)),
      host_(make_host()),
      view_(make_view(host_)),
      context_(collector_context(host_, config, purpose, background_, carry_over(config, state))),
      collectors_(context_, enabled_collectors(config), device_filter(config.device)),
      self_metrics_(state, host_.open_files, config.replay, replay_ ? replay_->player() : nullptr,
                    !config.textfile.empty(), context_.metrics),
      engine_(io, *this, engine_options(config, purpose, state, view_), served_families(context_.metrics),
              [this](core::SampleBatch& out) {
                self_metrics_.add(out);
                privileges_->add(out);
              }) {}

void Exporter::metrics(const web::MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
                       Answer answer) {
  auto selection = select_collectors(request.filter, config_.collectors);
  if (!selection) return answer(tl::unexpected(std::move(selection.error())));
  engine_.scrape({request.format, request.gzip, std::move(*selection)}, deadline, std::move(answer));
}

std::function<std::string()> Exporter::host_page(web::MetricsSource::HostPage kind) const {
  return [view = view_, privileges = privileges_, config = config_, kind] {
    constexpr unsigned kRefreshSeconds = 15;  // as often as Prometheus usually asks
    const bool is_view = kind == web::MetricsSource::HostPage::view;
    HostView::Content content = view->content();
    return doctor::host_page(
        content.facts, content.findings, std::move(content.owners),
        {is_view ? kRefreshSeconds : 0, page_head(config, privileges->missing(), is_view)});
  };
}

std::vector<std::string> Exporter::device_names() const {
  const std::lock_guard lock(names_mutex_);
  return names_;
}

core::Result<std::shared_ptr<const scrape::PlannedJobs>> Exporter::jobs(core::JobRun& run) {
  if (replay_ && replay_->advance(record::Player::Clock::now())) host_.changes->note_all();
  const auto changed = collectors_.refresh();
  if (!changed) return tl::unexpected(changed.error());
  for (const std::string& name : collectors_.unreachable()) {
    run.count_read_error(core::errno_name(ENOENT));
    if (std::exchange(unreachable_logged_, true)) continue;
    log::warn("a device is listed but its directory is missing; is all of /sys mounted?", {{"device", name}});
  }
  if (!*changed && planned_) return planned_;
  check_privileges();
  warn_about_filters();
  explain_no_devices();
  auto planned = std::make_shared<scrape::PlannedJobs>();
  const auto jobs = collectors_.jobs();
  planned->reserve(jobs.size());
  for (const auto& job : jobs)
    planned->push_back(
        {replay_ ? replay_->continued(job) : job, config_.collectors.find(job->collector())->second.timeout});
  planned_ = std::move(planned);
  const std::lock_guard lock(names_mutex_);
  names_ = collectors_.device_names();
  return planned_;
}

// Once, when there are devices: otherwise all that a typing mistake shows is a page without them.
void Exporter::warn_about_filters() {
  if (filters_logged_) return;
  const auto names = host_.sysfs->list(host::kDevices);
  for (const std::string& warning :
       unmatched_filters(config_.device, names.value_or(std::vector<std::string>{}))) {
    log::warn("device filter matches no device", {{"filter", warning}});
    filters_logged_ = true;
  }
}

// Once: a host without RDMA is no fault, and neither is one whose last device went away.
void Exporter::explain_no_devices() {
  if (std::exchange(no_devices_logged_, true) || !collectors_.device_names().empty()) return;
  log::info(
      "no RDMA devices",
      {{"reason", why_no_devices(host_.sysfs->root(), host_.sysfs->list(host::kDevices), config_.device)}});
}

// In the background: opening a verbs device may block. Again when devices have changed: there may be more to
// lose. One check at a time, however often devices change while it hangs.
void Exporter::check_privileges() {
  if (!use_kernel(config_) || wanted_checks_->fetch_add(1) != 0) return;
  background_.start([privileges = privileges_, config = config_, wanted = wanted_checks_] {
    for (unsigned seen = 0; !wanted->compare_exchange_strong(seen, 0);) {
      try {
        privileges->check(config);
      } catch (const std::exception& error) {
        log::caught("privileges could not be checked", error);
      }
    }
  });
}

bool Exporter::stop(std::chrono::steady_clock::time_point deadline) {
  const bool scrapes_ended = engine_.stop(deadline);
  const bool collectors_ended = collectors_.stop(deadline);
  const bool background_ended = background_.stop(deadline);
  const bool events_ended = !host_.events || host_.events->stop(deadline);
  return scrapes_ended && collectors_ended && background_ended && events_ended;
}

}  // namespace rdma_exporter::app
