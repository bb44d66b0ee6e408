// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// rdma_exporter capture: records the questions of the collectors to this host, and its answers.
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "app/command.h"
#include "app/exporter.h"
#include "app/process_state.h"
#include "app/setup/make_host.h"
#include "app/textfile.h"
#include "app/version.h"
#include "asio/asio.h"
#include "commands/survey.h"
#include "config/flags/value_type.h"
#include "host/topology/inventory.h"
#include "log/log.h"
#include "record/anonymize/anonymize.h"
#include "record/archive/extra_files.h"
#include "record/archive/limits.h"
#include "record/recording_host.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto kGraceForWorkers = 300ms;

constexpr std::array kFlags{
    config::CommandFlag{"--snapshots", "NUMBER", "Number of snapshots, 1 to 240 (default 1)."},
    config::CommandFlag{"--interval", "DURATION", "Time between two snapshots, 1s to 1h (default 15s)."},
    config::CommandFlag{"--timeout", "DURATION",
                        "Leave out whatever has not answered within this time, 1s to 10m (default 30s)."},
    config::CommandFlag{"--anonymize", "",
                        "Replace addresses, GUIDs, GIDs and the names of hosts, processes and jobs with "
                        "consistent pseudonyms."},
};

constexpr std::string_view kDescription =
    "Records everything that the collectors can read (the answers of sysfs, procfs, netlink, ethtool and "
    "verbs) in a\ntar.gz archive. `rdma_exporter --replay=OUT.tar.gz` serves it on any machine. All "
    "collectors are enabled. Run it\nas root so that nothing is missing. It changes nothing and never "
    "records keys or the contents of memory.\ndocs/CAPTURE.md lists what is recorded.";

struct Wanted {
  unsigned snapshots = 1;
  milliseconds interval = 15s;
  milliseconds timeout = 30s;  ///< of one snapshot; commands may take longer than the daemon
};

core::Result<Wanted> wanted(const config::CommandLine& line) {
  Wanted wanted;
  const auto snapshots =
      line.value("--snapshots", config::number(1, record::limits::kSnapshots), wanted.snapshots);
  if (!snapshots) return tl::unexpected(snapshots.error());
  const auto interval = line.value("--interval", config::duration(1s, 1h), wanted.interval);
  if (!interval) return tl::unexpected(interval.error());
  const auto timeout = line.value("--timeout", config::duration(1s, 10min), wanted.timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  return Wanted{*snapshots, *interval, *timeout};
}

config::Config with_everything_on(config::Config config, milliseconds timeout) {
  for (auto& [name, collector] : config.collectors) collector = {true, timeout};
  // Sources of families that are not exported are not read, but a replay may export another set.
  config.metrics = {};
  config.metrics.set = core::MetricSet::full;
  config.scrape.timeout = timeout;
  return config;
}

// As a scrape would tell Prometheus. A read that came back too late is not stuck any more at the end.
void warn_of_missing(std::string_view page) {
  constexpr std::string_view kFailing = "\nrdma_exporter_collector_failing{";
  for (std::size_t at = page.find(kFailing); at != std::string_view::npos; at = page.find(kFailing, at)) {
    at += kFailing.size();
    const std::string_view labels = page.substr(at, page.find("} ", at) - at);
    log::warn("data is missing from the recording", {{"collector", label_value(labels, "collector")},
                                                     {"device", label_value(labels, "device")},
                                                     {"reason", label_value(labels, "reason")}});
  }
}

// Takes snapshots of one host. A thread stuck in the kernel still uses the host, which must then live as long
// as the process.
class Recorder {
 public:
  Recorder(const config::Config& config, milliseconds timeout)
      : config_(with_everything_on(config, timeout)), live_(app::make_host(config, 0, app::Purpose::once)) {}

  /// Runs every collector once, with nothing remembered from the previous snapshot.
  record::Snapshot snapshot() {
    io_.restart();
    auto exporter = app::Exporter::make(
        config_, [this] { return record::recording_host(live_, tape_); }, io_, app::Purpose::once, state_);
    exporter->metrics({}, std::chrono::steady_clock::now() + config_.scrape.timeout,
                      [this](const core::Result<web::MetricsSource::Page>& page) {
                        if (page && *page) warn_of_missing((*page)->body);
                        io_.stop();
                      });
    io_.run();
    if (!exporter->stop(std::chrono::steady_clock::now() + kGraceForWorkers)) {
      log::warn("a read is stuck in the kernel; its data is missing from the recording");
      stuck_.push_back(std::move(exporter));
    }
    host::Host host = record::recording_host(live_, tape_);
    record::read_extra_files(host);
    return tape_.take();
  }

  record::Manifest manifest() {
    record::Manifest manifest;
    manifest.tool_version = app::kVersion;
    manifest.tool_revision = app::kRevision;
    manifest.kernel = live_.kernel;
    host::Inventory inventory(live_, [](const std::string&) { return true; });
    if (!inventory.refresh()) return manifest;
    for (const auto& device : inventory.devices())
      manifest.devices.push_back({device->name, device->parent_driver,
                                  live_.sysfs->read(device->path + "/fw_ver").value_or(""),
                                  live_.sysfs->read(device->path + "/board_id").value_or("")});
    return manifest;
  }

  bool stuck() const { return !stuck_.empty(); }

 private:
  const config::Config config_;
  host::Host live_;
  record::Tape tape_;
  asio::io_context io_{1};
  app::ProcessState state_{.probe = probe::Agent({})};  // which nothing configures
  std::vector<std::unique_ptr<app::Exporter>> stuck_;   ///< with reads that have not come back
};

void anonymize(record::Manifest& manifest, std::vector<record::Snapshot>& snapshots) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name = {};
  record::Pseudonyms pseudonyms;
  for (record::Snapshot& snapshot : snapshots)
    snapshot = record::anonymous(snapshot, name.data(), pseudonyms);
  manifest.anonymized = true;
}

record::Time now() { return std::chrono::floor<milliseconds>(std::chrono::system_clock::now()); }

int write(const std::string& path, const std::string& archive, std::size_t snapshots) {
  if (const auto written = app::replace_file(path, archive); !written) {
    log::error("cannot write the recording", {{"error", core::to_string(written.error())}});
    return app::kCannotServe;
  }
  log::info(
      "recorded",
      {{"file", path}, {"snapshots", std::to_string(snapshots)}, {"bytes", std::to_string(archive.size())}});
  return 0;
}

// Checked before the recording, which may take minutes.
core::Result<void> check_folder(const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return core::config_error("capture: " + folder.string() + " is not a directory");
}

core::Result<int> capture(const config::CommandLine& line) {
  const auto options = wanted(line);
  if (!options) return tl::unexpected(options.error());
  if (!line.config.replay.empty())
    return core::config_error("--replay: a recording cannot be recorded again");
  if (const auto checked = check_folder(line.arguments.front()); !checked)
    return tl::unexpected(checked.error());
  if (const auto checked = app::check_host(line.config); !checked) return tl::unexpected(checked.error());
  auto recorder = std::make_unique<Recorder>(line.config, options->timeout);
  record::Manifest manifest = recorder->manifest();
  std::vector<record::Snapshot> snapshots;
  auto next = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < options->snapshots; ++i, next += options->interval) {
    std::this_thread::sleep_until(next);
    snapshots.push_back(recorder->snapshot());
    manifest.snapshots.push_back({{}, now(), {}});
    log::info("snapshot taken",
              {{"number", std::to_string(i + 1)}, {"answers", std::to_string(snapshots.back().size())}});
  }
  if (line.has("--anonymize")) anonymize(manifest, snapshots);
  const int status = write(line.arguments.front(), record::write_recording(std::move(manifest), snapshots),
                           snapshots.size());
  if (recorder->stuck()) app::exit_now(status);
  return status;
}

}  // namespace

extern const app::Command capture_command;
const app::Command capture_command{{.name = "capture",
                                    .arguments = "OUT.tar.gz",
                                    .at_least = 1,
                                    .at_most = 1,
                                    .summary = "Record everything that the exporter can read on this host.",
                                    .description = kDescription,
                                    .flags = kFlags},
                                   capture};

}  // namespace rdma_exporter::commands
