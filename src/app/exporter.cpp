// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/exporter.h"

#include <cerrno>
#include <optional>
#include <regex>
#include <utility>

#include "app/families.h"
#include "app/landing_page.h"
#include "app/select_collectors.h"
#include "log/log.h"

namespace rdma_exporter::app {
namespace {

// With --once nobody comes back for what the background finds: its first pass is waited for, within reason.
constexpr std::chrono::milliseconds kFirstWait{2000};

collectors::ResourceSettings resource_settings(const config::ResourceConfig& config, bool once) {
  using Settings = collectors::ResourceSettings;
  return Settings{.detail = static_cast<Settings::Detail>(config.detail),
                  .interval = config.detail_interval,
                  .timeout = config.detail_timeout,
                  .max_qps = config.max_qps,
                  .max_entries = config.max_entries,
                  .owners = static_cast<Settings::Owners>(config.owners),
                  .owners_top = config.owners_top,
                  .first_wait = once ? kFirstWait : std::chrono::milliseconds(0)};
}

// The device filter: both expressions match the whole name, exclude wins. Compiled from std::string:
// libstdc++ 12 reads a byte beyond a range that ends in "(".
std::function<bool(const std::string&)> device_filter(const config::DeviceConfig& settings) {
  std::optional<std::regex> include;
  std::optional<std::regex> exclude;
  if (!settings.include.empty()) include.emplace(settings.include);
  if (!settings.exclude.empty()) exclude.emplace(settings.exclude);
  return [include, exclude](const std::string& name) {
    return (!include || std::regex_match(name, *include)) && !(exclude && std::regex_match(name, *exclude));
  };
}

collectors::EthtoolOptions ethtool_options(const config::EthtoolConfig& settings) {
  collectors::EthtoolOptions options{.interval = settings.interval, .raw_wanted = {}};
  if (!settings.raw_include.empty()) {
    options.raw_wanted = [wanted = std::regex(settings.raw_include)](const std::string& name) {
      return std::regex_match(name, wanted);
    };
  }
  return options;
}

std::vector<const collectors::CollectorSpec*> enabled_collectors(const config::Config& config) {
  std::vector<const collectors::CollectorSpec*> enabled;
  for (const collectors::CollectorSpec* spec : collectors::all_collectors()) {
    const auto it = config.collectors.find(spec->name);
    if (it != config.collectors.end() && it->second.enabled) enabled.push_back(spec);
  }
  return enabled;
}

double seconds_since_epoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

scrape::EngineOptions engine_options(const config::Config& config) {
  scrape::EngineOptions options;
  options.max_workers = config.limits.workers;
  options.series_per_device = config.limits.series_per_device;
  options.page_bytes = config.limits.page_bytes;
  if (config.web.openmetrics_created) options.start_time = seconds_since_epoch();
  return options;
}

}  // namespace

std::unique_ptr<Exporter> Exporter::make(const config::Config& config, unsigned kept_files,
                                         asio::io_context& io, Purpose purpose, ProcessState& state) {
  if (!config.replay.empty())
    log::warn("serving a recording: values are not those of this host", {{"recording", config.replay}});
  return std::unique_ptr<Exporter>(new Exporter(config, kept_files, io, purpose, state));
}

Exporter::Exporter(const config::Config& config, unsigned kept_files, asio::io_context& io, Purpose purpose,
                   ProcessState& state)
    : config_(config),
      host_(make_host(config, kept_files, purpose)),
      context_{host_,
               static_cast<collectors::RawPolicy>(config.raw),
               config.device.forget_after,
               ethtool_options(config.ethtool),
               static_cast<collectors::AsyncEventsPolicy>(config.async_events),
               resource_settings(config.resource, purpose == Purpose::once),
               &background_},
      collectors_(context_, enabled_collectors(config), device_filter(config.device)),
      self_metrics_(state, host_.open_files, config.replay, !config.textfile.empty()),
      engine_(io, *this, engine_options(config), all_families(),
              [this](core::SampleBatch& out) { self_metrics_.add(out); }) {}

void Exporter::metrics(net::MetricsRequest request, std::chrono::steady_clock::time_point deadline,
                       Answer answer) {
  auto selection = select_collectors(request.filter, config_.collectors);
  if (!selection) return answer(tl::unexpected(std::move(selection.error())));
  engine_.scrape({request.format, request.gzip, std::move(*selection)}, deadline, std::move(answer));
}

std::string Exporter::landing_page(const std::string& telemetry_path) const {
  return app::landing_page(telemetry_path, device_names(), config_.replay);
}

std::vector<std::string> Exporter::device_names() const {
  const std::lock_guard lock(names_mutex_);
  return names_;
}

core::Result<std::shared_ptr<const scrape::PlannedJobs>> Exporter::jobs(core::JobRun& run) {
  const auto changed = collectors_.refresh();
  if (!changed) return tl::unexpected(changed.error());
  for (const std::string& name : collectors_.unreachable()) {
    run.count_read_error(core::errno_name(ENOENT));
    if (std::exchange(unreachable_logged_, true)) continue;
    log::warn("a device is listed but its directory is not there: is all of /sys mounted?",
              {{"device", name}});
  }
  if (!*changed && planned_) return planned_;
  auto planned = std::make_shared<scrape::PlannedJobs>();
  for (const auto& job : collectors_.jobs())
    planned->push_back({job, config_.collectors.find(job->collector())->second.timeout});
  planned_ = std::move(planned);
  const std::lock_guard lock(names_mutex_);
  names_ = collectors_.device_names();
  return planned_;
}

bool Exporter::stop(std::chrono::steady_clock::time_point deadline) {
  const bool scrapes_ended = engine_.stop(deadline);
  const bool background_ended = background_.stop(deadline);
  const bool events_ended = !host_.events || host_.events->stop(deadline);
  return scrapes_ended && background_ended && events_ended;
}

}  // namespace rdma_exporter::app
