// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/metrics/self_metrics.h"

#include <chrono>
#include <utility>

#include "app/version.h"
#include "core/labels.h"
#include "core/seconds.h"
#include "probe/stats/registry.h"

namespace rdma_exporter::app {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kBuildInfo{"rdma_exporter_build_info",
                                MetricType::gauge,
                                "version,revision,compiler",
                                "",
                                "Version, revision and compiler of this build of the exporter; always 1",
                                "the build"};
constexpr MetricDesc kReplayInfo{"rdma_exporter_replay_info",
                                 MetricType::gauge,
                                 "recording",
                                 "",
                                 "Name of the recording that is being replayed; always 1. Present only if "
                                 "the values come from a recording and not from this host",
                                 "--replay"};
constexpr MetricDesc kReplayTime{"rdma_exporter_replay_snapshot_timestamp_seconds",
                                 MetricType::gauge,
                                 "",
                                 "seconds",
                                 "Time at which the values on this page were recorded, in seconds since "
                                 "1970. Only with a recorded archive",
                                 "--replay"};
constexpr MetricDesc kRequests{
    "rdma_exporter_http_requests_total",      MetricType::counter, "code", "requests",
    "HTTP requests answered, by status code", "src/http"};
constexpr MetricDesc kRefused{
    "rdma_exporter_http_connections_refused_total",         MetricType::counter, "reason", "connections",
    "HTTP connections refused, by reason; see docs/WEB.md", "src/http"};
constexpr MetricDesc kRefusedRequests{
    "rdma_exporter_http_requests_refused_total",         MetricType::counter, "reason", "requests",
    "HTTP requests refused, by reason; see docs/WEB.md", "src/http"};
constexpr MetricDesc kWebConfigGood{
    "rdma_exporter_web_config_last_reload_successful",
    MetricType::gauge,
    "",
    "",
    "Whether the web config file was valid when it was last read: 1 if so; 0 if not, and then the previous "
    "one stays in force. Only with --web.config.file",
    "src/web/policy"};
constexpr MetricDesc kWebConfigFailures{
    "rdma_exporter_web_config_reload_failures_total",
    MetricType::counter,
    "",
    "reloads",
    "Number of times the web config file had changed and was not valid. Only with --web.config.file",
    "src/web/policy"};
constexpr MetricDesc kKeptFiles{"rdma_exporter_kept_files",
                                MetricType::gauge,
                                "",
                                "files",
                                "Number of files, sockets and verbs devices kept open between scrapes. "
                                "Beyond limits.kept_files, files are opened for each read",
                                "src/host"};

constexpr MetricDesc kReloadSuccessful{"rdma_exporter_config_last_reload_successful",
                                       MetricType::gauge,
                                       "",
                                       "",
                                       "Whether the last attempt to load the configuration succeeded: 1 if "
                                       "so, else 0. After a failure the previous configuration stays in use",
                                       "SIGHUP, POST /-/reload"};
constexpr MetricDesc kReloadTime{"rdma_exporter_config_last_reload_success_timestamp_seconds",
                                 MetricType::gauge,
                                 "",
                                 "seconds",
                                 "Time at which the configuration in use was loaded, in seconds since 1970",
                                 "SIGHUP, POST /-/reload"};

constexpr std::string_view kCompiler = "g++ " __VERSION__;

}  // namespace

SelfMetrics::SelfMetrics(const ProcessState& state, const host::OpenFileBudget& open_files,
                         const std::string& recording, std::shared_ptr<const record::Player> player,
                         bool to_file, const core::FamilySelection& selection)
    : state_(state),
      open_files_(open_files),
      build_labels_(
          core::render_labels({{"version", kVersion}, {"revision", kRevision}, {"compiler", kCompiler}})),
      player_(std::move(player)),
      to_file_(to_file) {
  if (!recording.empty()) recording_labels_ = core::render_labels({{"recording", recording}});
  const auto render_into = [](std::vector<std::string>& all) {
    return [&all](std::string_view reason, std::uint64_t) {
      all.push_back(core::render_labels({{"reason", reason}}));
    };
  };
  state_.http.for_each_refusal(render_into(refusal_labels_));
  state_.http.for_each_refused_request(render_into(refused_request_labels_));
  for (const MetricDesc* family : probe::Registry::families())
    if (!selection.in_set(*family)) left_out_.insert(family);
}

void SelfMetrics::add(core::SampleBatch& out) {
  out.add(kBuildInfo, build_labels_, std::uint64_t{1});
  if (!recording_labels_.empty()) out.add(kReplayInfo, recording_labels_, std::uint64_t{1});
  if (player_) {
    const auto& shown = player_->recording().manifest().snapshots[player_->shown().snapshot];
    out.add(kReplayTime, {}, core::seconds(shown.time.time_since_epoch()));
  }
  out.add(kKeptFiles, {}, std::uint64_t{open_files_.used()});
  const std::size_t first = out.size();
  state_.probe.add(out);
  out.remove_if(first, [this](const core::Sample& sample) { return left_out_.contains(sample.metric); });
  if (to_file_) return;
  out.add_flag(kReloadSuccessful, {}, state_.reload.last_successful);
  out.add(kReloadTime, {}, static_cast<std::uint64_t>(state_.reload.last_success_time.load()));
  state_.http.for_each_status([&](unsigned status, std::uint64_t requests) {
    out.add(kRequests, core::render_labels({{"code", std::to_string(status)}}), requests);
  });
  auto refusal = refusal_labels_.begin();
  state_.http.for_each_refusal([&](std::string_view, std::uint64_t connections) {
    out.add_stable(kRefused, *refusal++, connections);
  });
  auto refused = refused_request_labels_.begin();
  state_.http.for_each_refused_request([&](std::string_view, std::uint64_t requests) {
    out.add_stable(kRefusedRequests, *refused++, requests);
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
