// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/self_metrics.h"

#include <chrono>
#include <utility>

#include "app/version.h"
#include "core/labels.h"

namespace rdma_exporter::app {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kBuildInfo{"rdma_exporter_build_info",
                                MetricType::gauge,
                                "version,revision,compiler",
                                "",
                                "Always 1; which build of the exporter this is",
                                "the build"};
constexpr MetricDesc kReplayInfo{
    "rdma_exporter_replay_info",
    MetricType::gauge,
    "recording",
    "",
    "Always 1, and only there when the values are those of a recording and not of this host",
    "--replay"};
constexpr MetricDesc kReplayTime{"rdma_exporter_replay_snapshot_timestamp_seconds",
                                 MetricType::gauge,
                                 "",
                                 "seconds",
                                 "When what is served was recorded, since 1970; only with a recorded archive",
                                 "--replay"};
constexpr MetricDesc kRequests{
    "rdma_exporter_http_requests_total",      MetricType::counter, "code", "requests",
    "HTTP requests answered, by status code", "src/http"};
constexpr MetricDesc kRefused{
    "rdma_exporter_http_connections_refused_total",       MetricType::counter, "reason", "connections",
    "Connections not served, by reason; see docs/WEB.md", "src/http"};
constexpr MetricDesc kRefusedRequests{"rdma_exporter_http_requests_refused_total",
                                      MetricType::counter,
                                      "reason",
                                      "requests",
                                      "HTTP requests not served, by reason; see docs/WEB.md",
                                      "src/http"};
constexpr MetricDesc kWebConfigGood{
    "rdma_exporter_web_config_last_reload_successful",
    MetricType::gauge,
    "",
    "",
    "1 if the web config file was good when it was read last, 0 if it was not and the "
    "one before is in force; only with --web.config.file",
    "src/web/policy"};
constexpr MetricDesc kWebConfigFailures{
    "rdma_exporter_web_config_reload_failures_total",
    MetricType::counter,
    "",
    "reloads",
    "Times that the web config file had changed and was not good; only with "
    "--web.config.file",
    "src/web/policy"};
constexpr MetricDesc kKeptFiles{"rdma_exporter_kept_files",
                                MetricType::gauge,
                                "",
                                "files",
                                "Files, sockets and verbs devices kept open between scrapes; at "
                                "limits.kept_files the others are opened for each "
                                "read",
                                "src/host"};

constexpr MetricDesc kReloadSuccessful{
    "rdma_exporter_config_last_reload_successful",
    MetricType::gauge,
    "",
    "",
    "1 if the last attempt to load the configuration succeeded; at 0 the one before it is still served",
    "SIGHUP, POST /-/reload"};
constexpr MetricDesc kReloadTime{"rdma_exporter_config_last_reload_success_timestamp_seconds",
                                 MetricType::gauge,
                                 "",
                                 "seconds",
                                 "When the configuration that is served was loaded, in seconds since 1970",
                                 "SIGHUP, POST /-/reload"};

constexpr std::string_view kCompiler = "g++ " __VERSION__;

}  // namespace

SelfMetrics::SelfMetrics(const ProcessState& state, const host::OpenFileBudget& open_files,
                         const std::string& recording, std::shared_ptr<const record::Player> player,
                         bool to_file)
    : state_(state),
      open_files_(open_files),
      build_labels_(
          core::render_labels({{"version", kVersion}, {"revision", kRevision}, {"compiler", kCompiler}})),
      player_(std::move(player)),
      to_file_(to_file) {
  if (!recording.empty()) recording_labels_ = core::render_labels({{"recording", recording}});
}

void SelfMetrics::add(core::SampleBatch& out) {
  out.add(kBuildInfo, build_labels_, std::uint64_t{1});
  if (!recording_labels_.empty()) out.add(kReplayInfo, recording_labels_, std::uint64_t{1});
  if (player_) {
    const auto& shown = player_->recording().manifest().snapshots[player_->shown().snapshot];
    out.add(kReplayTime, {}, std::chrono::duration<double>(shown.time.time_since_epoch()).count());
  }
  out.add(kKeptFiles, {}, std::uint64_t{open_files_.used()});
  state_.probe.add(out);
  if (to_file_) return;
  out.add_flag(kReloadSuccessful, {}, state_.reload.last_successful);
  out.add(kReloadTime, {}, static_cast<std::uint64_t>(state_.reload.last_success_time.load()));
  state_.http.for_each_status([&](unsigned status, std::uint64_t requests) {
    out.add(kRequests, core::render_labels({{"code", std::to_string(status)}}), requests);
  });
  state_.http.for_each_refusal([&](std::string_view reason, std::uint64_t connections) {
    out.add(kRefused, core::render_labels({{"reason", reason}}), connections);
  });
  state_.http.for_each_refused_request([&](std::string_view reason, std::uint64_t requests) {
    out.add(kRefusedRequests, core::render_labels({{"reason", reason}}), requests);
  });
  if (const auto reads = state_.http.web_config()) {
    out.add(kWebConfigGood, {}, std::uint64_t{reads->last_good});
    out.add(kWebConfigFailures, {}, reads->failures);
  }
  process_.add(out);
}

std::vector<const MetricDesc*> self_families() {
  static_assert(core::valid(kBuildInfo) && core::valid(kReplayInfo) && core::valid(kReplayTime) &&
                core::valid(kRequests) && core::valid(kRefused) && core::valid(kRefusedRequests) &&
                core::valid(kReloadSuccessful) && core::valid(kReloadTime) && core::valid(kWebConfigGood) &&
                core::valid(kWebConfigFailures) && core::valid(kKeptFiles));
  std::vector<const MetricDesc*> all{&kBuildInfo,     &kReplayInfo,        &kReplayTime,       &kRequests,
                                     &kRefused,       &kRefusedRequests,   &kReloadSuccessful, &kReloadTime,
                                     &kWebConfigGood, &kWebConfigFailures, &kKeptFiles};
  const auto process = ProcessMetrics::families();
  all.insert(all.end(), process.begin(), process.end());
  return all;
}

}  // namespace rdma_exporter::app
