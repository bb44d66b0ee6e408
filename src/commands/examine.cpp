// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "commands/examine.h"

#include <array>
#include <map>
#include <memory>
#include <span>
#include <thread>

#include "app/collector_settings.h"
#include "app/make_host.h"
#include "app/program.h"
#include "app/setup_log.h"
#include "app/system/background_pool.h"
#include "config/flags/value_type.h"
#include "doctor/gather/gather.h"
#include "host/topology/inventory.h"

namespace rdma_exporter::commands {
namespace {

using namespace std::chrono_literals;
using Devices = host::Inventory::Devices;

constexpr auto kGrace = 300ms;
constexpr unsigned kKeptFiles = 0;  // nothing is read often
constexpr std::array<std::string_view, 5> kCollectors{"port_counters", "hw_counters", "ethtool",
                                                      "ethtool_standard", "resource"};

Deadline deadline_after(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

std::optional<Devices> find_devices(host::Host& host, const config::Config& config,
                                    core::Background& background) {
  const auto find = [&host, wanted = app::device_filter(config.device)] {
    host::Inventory inventory(host, wanted);
    return inventory.refresh() ? inventory.devices() : Devices();
  };
  return run_until<Devices>(background, {find}, deadline_after(config.scrape.timeout)).front();
}

// Each device by itself: one that hangs costs its own facts.
void gather(host::Host& host, const config::Config& config, core::Background& background,
            doctor::Facts& facts) {
  const auto found = find_devices(host, config, background);
  facts.devices_listed = found.has_value();
  const Devices devices = found.value_or(Devices());
  std::vector<std::function<doctor::DeviceFacts()>> tasks;
  for (const auto& device : devices)
    tasks.emplace_back([&host, device] { return doctor::gather_device(host, device); });
  const auto system = run_until<doctor::SystemFacts>(
      background, {[&host] { return doctor::gather_system(host); }}, deadline_after(config.scrape.timeout));
  if (system.front()) facts.system = *system.front();
  auto answers =
      run_until<doctor::DeviceFacts>(background, std::move(tasks), deadline_after(config.scrape.timeout));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) facts.devices.push_back(std::move(*answers[i]));
    if (!answers[i]) facts.silent_devices.push_back(devices[i]->name);
  }
}

// To which device and port an interface's counters belong.
doctor::CounterFacts counter_of(const Reading& reading, const doctor::Facts& facts) {
  doctor::CounterFacts counter{std::string(reading.metric->name),
                               reading.labels,
                               label_value(reading.labels, "device"),
                               label_value(reading.labels, "port"),
                               label_value(reading.labels, "netdev"),
                               reading.value,
                               std::nullopt};
  if (counter.netdev.empty()) return counter;
  for (const doctor::DeviceFacts& device : facts.devices)
    for (const doctor::NetdevFacts& netdev : device.netdevs) {
      if (netdev.name != counter.netdev || !counter.device.empty()) continue;
      counter.device = device.name;
      counter.port = std::to_string(netdev.port);
    }
  return counter;
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

// Verdicts are what is to be read, not what collectors say in passing; whoever wants that asks for debug.
void log_less(config::LogConfig settings) {
  if (settings.level == config::LogLevel::info) settings.level = config::LogLevel::warn;
  app::setup_log(settings);
}

using Seconds = std::chrono::duration<double>;

// What lies between two readings of the counters: time, or the snapshots of a recording.
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
  /// Between the two readings.
  void pass() {
    if (!player_) return std::this_thread::sleep_until(started_ + wanted_);
    player_->show({player_->recording().snapshots() - 1, 0});
    host_.changes->note_all();
  }
  /// After the second one.
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

Examination read(host::Host& host, const config::Config& config, Sample sample, core::Background& background,
                 Survey& survey) {
  Examination result;
  std::vector<Reading> before;
  sample.begin();
  if (sample.wanted()) {
    before = survey.collect(deadline_after(config.scrape.timeout));
    sample.pass();
  }
  gather(host, config, background, result.facts);
  result.readings = survey.collect(deadline_after(config.scrape.timeout));
  if (sample.wanted()) result.facts.sample_seconds = sample.length().count();
  compare(before, result.readings, result.facts);
  return result;
}

}  // namespace

core::Result<std::chrono::milliseconds> sample_time(const config::CommandLine& line) {
  return line.value(kSampleFlag.names, config::duration(0ms, 10min), std::chrono::milliseconds(2s));
}

core::Result<int> examine(const config::Config& config, std::chrono::milliseconds sample, Owners owners,
                          const std::function<int(const Examination&)>& with) {
  log_less(config.log);
  if (const auto checked = app::check_host(config); !checked) return tl::unexpected(checked.error());
  const auto recording = app::open_recording(config);
  if (!recording) return tl::unexpected(recording.error());
  host::Host host = app::make_host(config, kKeptFiles, app::Purpose::once, *recording);
  app::BackgroundPool background;
  // The last one tells of owners, and of nothing that the checks need.
  const std::span<const std::string_view> all(kCollectors);
  Survey survey(host, config, owners == Owners::yes ? all : all.first(all.size() - 1), background);
  const int status = with(read(host, config, {config, sample, host, *recording}, background, survey));
  if (!background.stop(deadline_after(kGrace))) app::exit_now(status);
  return status;
}

}  // namespace rdma_exporter::commands
