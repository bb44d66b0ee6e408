// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/examine.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "app/command.h"
#include "app/setup/collector_settings.h"
#include "app/setup/make_host.h"
#include "app/setup/probe_options.h"
#include "app/setup/setup.h"
#include "config/flags/value_type.h"
#include "core/seconds.h"
#include "facts/gather.h"
#include "host/topology/inventory.h"
#include "task/pool.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using Devices = host::Inventory::Devices;

constexpr auto kGrace = 300ms;
constexpr unsigned kKeptFiles = 0;  // no file is read often
constexpr std::array<std::string_view, 6> kCollectors{"port_counters",    "hw_counters", "ethtool",
                                                      "ethtool_standard", "pcie_errors", "devlink"};

// Modules are read only if the configuration says so, because a reading holds the RTNL lock.
std::vector<std::string_view> collectors_for(const config::Config& config, Owners owners) {
  std::vector<std::string_view> names(kCollectors.begin(), kCollectors.end());
  const auto module = config.collectors.find("module");
  if (module != config.collectors.end() && module->second.enabled) names.emplace_back("module");
  if (owners == Owners::yes) names.emplace_back("resource");
  return names;
}

Deadline deadline_after(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

std::optional<Devices> find_devices(host::Host& host, const config::Config& config,
                                    task::Background& background) {
  const auto find = [&host, wanted = app::device_filter(config.device)] {
    host::Inventory inventory(host, wanted);
    return inventory.refresh() ? inventory.devices() : Devices();
  };
  return run_until<Devices>(background, {find}, deadline_after(config.scrape.timeout)).front();
}

// Each device separately: one that hangs costs only its own facts.
void gather(host::Host& host, const config::Config& config, task::Background& background,
            doctor::Facts& facts) {
  const auto found = find_devices(host, config, background);
  facts.devices_listed = found.has_value();
  const Devices devices = found.value_or(Devices());
  std::vector<std::function<facts::DeviceFacts()>> tasks;
  const auto addresses = std::make_shared<facts::HostAddresses>();
  const auto cache = std::make_shared<facts::FactCache>();
  for (const auto& device : devices)
    tasks.emplace_back([&host, device, addresses, cache, now = std::chrono::steady_clock::now()] {
      facts::DeviceMemory memory;
      return facts::gather_device(host, device, memory, {*addresses, *cache, {now}});
    });
  const auto system = run_until<facts::SystemFacts>(
      background, {[&host] { return facts::gather_system(host); }}, deadline_after(config.scrape.timeout));
  if (system.front()) facts.system = *system.front();
  auto answers =
      run_until<facts::DeviceFacts>(background, std::move(tasks), deadline_after(config.scrape.timeout));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) facts.devices.push_back(std::move(*answers[i]));
    if (!answers[i]) facts.silent_devices.push_back(devices[i]->name);
  }
}

std::optional<doctor::ProbeFacts> probe_facts(const config::ProbeConfig& config) {
  const auto options = app::probe_options(config);
  if (!options || !options->wanted()) return std::nullopt;
  return doctor::ProbeFacts{options->session.traffic_class, probe::kTrafficClass};
}

// The device and port of an interface's counters.
doctor::CounterFacts counter_of(const Reading& reading, const doctor::Facts& facts) {
  doctor::CounterFacts counter{std::string(reading.metric->name),
                               reading.labels,
                               label_value(reading.labels, "device"),
                               label_value(reading.labels, "port"),
                               label_value(reading.labels, "netdev"),
                               reading.value,
                               std::nullopt};
  if (counter.netdev.empty()) return counter;
  for (const facts::DeviceFacts& device : facts.devices)
    for (const facts::NetdevFacts& netdev : device.netdevs) {
      if (netdev.name != counter.netdev || !counter.device.empty()) continue;
      counter.device = device.name;
      counter.port = std::to_string(netdev.port);
    }
  return counter;
}

void take_gauges(const std::vector<Reading>& readings, doctor::Facts& facts) {
  for (const Reading& reading : readings) {
    if (reading.metric->type != core::MetricType::gauge) continue;
    const doctor::CounterFacts place = counter_of(reading, facts);
    facts.gauges.push_back({place.metric, place.labels, place.device, place.port, place.netdev, place.total});
  }
}

void compare(const std::vector<Reading>& before, const std::vector<Reading>& after, doctor::Facts& facts) {
  std::map<std::pair<const core::MetricDesc*, std::string_view>, double> old;
  for (const Reading& reading : before) old[{reading.metric, reading.labels}] = reading.value;
  for (const Reading& reading : after) {
    if (reading.metric->type != core::MetricType::counter) continue;
    doctor::CounterFacts& counter = facts.counters.emplace_back(counter_of(reading, facts));
    const auto was = old.find({reading.metric, reading.labels});
    if (was != old.end()) counter.moved = reading.value - was->second;
  }
}

// The output is the verdicts, not the collectors' log, unless the level is debug.
void log_less(config::LogConfig settings) {
  if (settings.level == config::LogLevel::info) settings.level = config::LogLevel::warn;
  app::setup_log(settings);
}

/// Sleeps until `start + time`. During a wait of five seconds or more, shows the progress on stderr every
/// second if that is a terminal, and erases it at the end.
void wait_with_progress(std::chrono::steady_clock::time_point start, std::chrono::milliseconds time);

void wait_with_progress(std::chrono::steady_clock::time_point start, std::chrono::milliseconds time) {
  using namespace std::chrono_literals;
  constexpr auto kLong = 5s;
  const auto end = start + time;
  const bool shown = time >= kLong && ::isatty(STDERR_FILENO) == 1;
  for (auto next = start; shown && next < end; next += 1s) {
    std::this_thread::sleep_until(next);
    fmt::print(stderr, "\rWatching the counters: {} of {:g} s ", (next - start) / 1s, core::seconds(time));
    std::fflush(stderr);
  }
  std::this_thread::sleep_until(end);
  if (shown) fmt::print(stderr, "\r\x1b[K");  // "erase to the end of the line"
}

using Seconds = std::chrono::duration<double>;

// What separates two readings of the counters: time, or the snapshots of a recording.
class Sample {
 public:
  Sample(const config::Config& config, std::chrono::milliseconds wanted, host::Host& host,
         std::shared_ptr<record::Player> player)
      : wanted_(wanted), host_(host), player_(std::move(player)) {
    const bool moves = config.replay.empty() || (player_ && player_->recording().snapshots() > 1);
    if (!moves) wanted_ = 0ms;
  }

  bool wanted() const { return wanted_ > 0ms; }

  void begin() { started_ = std::chrono::steady_clock::now(); }
  /// Call this between the two readings.
  void pass() {
    if (!player_) return wait_with_progress(started_, wanted_);
    player_->show({player_->recording().snapshots() - 1, 0});
    host_.changes->note_all();
  }
  /// Call this after the second one.
  Seconds length() const {
    if (!player_) return std::chrono::steady_clock::now() - started_;
    const auto& snapshots = player_->recording().manifest().snapshots;
    return snapshots.back().time - snapshots.front().time;
  }

 private:
  std::chrono::milliseconds wanted_;
  host::Host& host_;
  const std::shared_ptr<record::Player> player_;
  std::chrono::steady_clock::time_point started_;
};

Examination read(host::Host& host, const config::Config& config, Sample sample, task::Background& background,
                 Survey& survey) {
  Examination result;
  std::vector<Reading> before;
  sample.begin();
  if (sample.wanted()) {
    before = survey.collect(deadline_after(config.scrape.timeout));
    sample.pass();
  }
  gather(host, config, background, result.facts);
  result.facts.probe = probe_facts(config.probe);
  result.readings = survey.collect(deadline_after(config.scrape.timeout));
  if (sample.wanted()) result.facts.sample_seconds = sample.length().count();
  compare(before, result.readings, result.facts);
  take_gauges(result.readings, result.facts);
  return result;
}

}  // namespace

core::Result<std::chrono::milliseconds> sample_time(const config::CommandLine& line) {
  return line.value(kSampleFlag.names, config::duration(0ms, 10min), std::chrono::milliseconds(2s));
}

core::Result<int> examine(const config::Config& config, std::chrono::milliseconds sample, Owners owners,
                          const std::function<int(const Examination&)>& use) {
  log_less(config.log);
  if (const auto checked = app::check_host(config); !checked) return tl::unexpected(checked.error());
  const auto recording = app::open_recording(config);
  if (!recording) return tl::unexpected(recording.error());
  host::Host host = app::make_host(config, kKeptFiles, app::Purpose::once, *recording);
  task::Pool background{task::kBackgroundPool};
  task::Pool passes{task::kBackgroundPool};
  Survey survey(host, config, collectors_for(config, owners), background, passes);
  const int status = use(read(host, config, {config, sample, host, *recording}, background, survey));
  const auto end = deadline_after(kGrace);
  if (!background.stop(end) || !passes.stop(end)) app::exit_now(status);
  return status;
}

}  // namespace rdma_exporter::commands
