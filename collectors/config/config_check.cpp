// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector config_check: the settings checks of the command doctor as metrics, so that drift is noticed.
// They run in the background; a scrape serves the last findings.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "core/labels.h"
#include "doctor/check.h"
#include "doctor/checks/checks.h"
#include "doctor/host_facts.h"
#include "facts/fact_cache.h"
#include "facts/gather.h"
#include "host/host.h"
#include "host/topology/device.h"
#include "task/background.h"
#include "task/background_value.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

constexpr core::MetricDesc kCheck{
    "rdma_config_check",
    core::MetricType::gauge,
    "device,port,netdev,check",
    "",
    "Verdict of a configuration check: 0 ok, 1 warning, 2 critical. Absent if the check does not apply or "
    "could not be made; ok verdicts appear only with --metrics.set=full. docs/DOCTOR.md explains what each "
    "check means and what to do; `rdma_exporter doctor` shows the evidence",
    "see docs/DOCTOR.md"};
constexpr core::MetricDesc kChecks{"rdma_config_checks",
                                   core::MetricType::gauge,
                                   "device,verdict",
                                   "checks",
                                   "Number of configuration checks by verdict: ok, warning, critical. device "
                                   "is empty for checks of the host",
                                   "see docs/DOCTOR.md"};
constexpr std::array kFamilies{&kCheck, &kChecks};
static_assert(core::valid(kCheck) && core::valid(kChecks));

std::uint64_t value_of(doctor::Verdict verdict) {
  if (verdict == doctor::Verdict::critical) return 2;
  return verdict == doctor::Verdict::warning ? 1 : 0;
}

// Where containers come and go all day, something changes every second.
constexpr std::chrono::milliseconds kAfterChange{60'000};

constexpr std::string_view kComplaint = "the configuration was not checked";

// The facts about a device before it has answered: only that it exists.
facts::DeviceFacts bare(const host::Device& device) {
  facts::DeviceFacts facts;
  facts.name = device.name;
  facts.family = device.driver;
  return facts;
}

/// Gathers the facts for the settings checks in the background, one device at a time, so that a device that
/// hangs loses only its own findings. What another collector has read recently is not read again. Shared by
/// the job and the gathering in progress, which may be stuck in the kernel after the job is gone.
/// Thread-safe.
class ConfigChecks : public std::enable_shared_from_this<ConfigChecks> {
 public:
  using Clock = std::chrono::steady_clock;
  using Device = std::shared_ptr<const host::Device>;

  /// `background` and `host` outlive it.
  ConfigChecks(task::Background& background, host::Host& host, std::shared_ptr<facts::FactCache> cache,
               std::chrono::milliseconds interval);

  /// Sets the devices that exist; facts of all others are forgotten.
  void set_devices(std::vector<Device> devices);
  /// Starts the readings that are due at `now` and not in progress: after each interval, or a minute
  /// after the one before it if the kernel reported a change of the device or one of its interfaces. One
  /// thread at a time.
  void start_due(Clock::time_point now);
  /// Waits until no reading is in progress, at most for the given time.
  void wait(std::chrono::milliseconds at_most);

  /// Shows each finding of configuration checks on what was read within the last kKept intervals; none where
  /// there is no RDMA.
  void visit(Clock::time_point now, const std::function<void(const doctor::Finding&)>& visitor) const;
  /// Grows whenever a reading may have changed the findings.
  std::uint64_t version() const { return version_; }

  /// Maximum age of facts, in intervals: a reading may be late, but the facts of a device that hangs expire.
  static constexpr int kKept = 3;

 private:
  struct Facts : task::BackgroundValue<facts::DeviceFacts> {
    using BackgroundValue::BackgroundValue;
    facts::DeviceMemory memory;  ///< used only by the pass in progress
    // Used only by start_due().
    std::uint64_t seen_changes = 0;
    Clock::time_point changed_at{};  ///< when the last change was noticed
  };
  using Devices = std::vector<std::pair<Device, std::shared_ptr<Facts>>>;

  std::shared_ptr<const Devices> devices() const;
  std::uint64_t changes_of(const host::Device& device, const facts::DeviceFacts* facts) const;
  template <typename T>
  std::shared_ptr<const T> fresh(const task::BackgroundValue<T>& value, Clock::time_point now) const;

  task::Background& background_;
  host::Host& host_;
  const std::shared_ptr<facts::FactCache> cache_;
  const std::chrono::milliseconds interval_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Devices> devices_ = std::make_shared<const Devices>();
  task::BackgroundValue<facts::SystemFacts> system_;
  facts::HostAddresses addresses_;
  std::atomic<std::uint64_t> version_ = 0;
};

ConfigChecks::ConfigChecks(task::Background& background, host::Host& host,
                           std::shared_ptr<facts::FactCache> cache, std::chrono::milliseconds interval)
    : background_(background),
      host_(host),
      cache_(std::move(cache)),
      interval_(interval),
      system_(background, task::Schedule(interval), kComplaint) {}

void ConfigChecks::set_devices(std::vector<Device> devices) {
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<Devices>();
  for (Device& device : devices) {
    const auto known = std::find_if(devices_->begin(), devices_->end(),
                                    [&](const auto& entry) { return entry.first == device; });
    auto facts = known != devices_->end()
                     ? known->second
                     : std::make_shared<Facts>(background_, task::Schedule(interval_), kComplaint);
    next->emplace_back(std::move(device), std::move(facts));
  }
  devices_ = std::move(next);
  system_.reset();  // adapters and devices are gathered together
  ++version_;
}

std::uint64_t ConfigChecks::changes_of(const host::Device& device, const facts::DeviceFacts* facts) const {
  std::uint64_t changes = host_.changes->of(device.name);
  if (facts == nullptr) return changes;
  for (const facts::NetdevFacts& netdev : facts->netdevs) changes += host_.changes->of(netdev.name);
  return changes;
}

std::shared_ptr<const ConfigChecks::Devices> ConfigChecks::devices() const {
  const std::lock_guard lock(mutex_);
  return devices_;
}

void ConfigChecks::start_due(Clock::time_point now) {
  const auto ended = [self = shared_from_this()] { ++self->version_; };
  const auto read_system = [self = shared_from_this()] {
    return std::make_shared<const facts::SystemFacts>(facts::gather_system(self->host_));
  };
  system_.read_if_due(now, read_system, ended);
  const auto known = devices();
  for (const auto& [device, facts] : *known) {
    const auto latest = facts->latest();
    const std::uint64_t changes = changes_of(*device, latest.value.get());
    if (std::exchange(facts->seen_changes, changes) != changes) {
      facts->postpone(latest.read_at + std::min(interval_, kAfterChange));
      if (latest.value) facts->changed_at = now;
    }
    const bool changed = facts->changed_at > latest.read_at;
    const facts::Wanted wanted{now, changed ? now - facts->changed_at : interval_ / 2, changed};
    const auto read_device = [self = shared_from_this(), device = device, facts = facts, wanted] {
      return std::make_shared<const facts::DeviceFacts>(facts::gather_device(
          self->host_, device, facts->memory, {self->addresses_, *self->cache_, wanted}));
    };
    facts->read_if_due(now, read_device, ended);
  }
}

void ConfigChecks::wait(std::chrono::milliseconds at_most) {
  const Clock::time_point deadline = Clock::now() + at_most;
  system_.wait_until(deadline);
  const auto known = devices();
  for (const auto& [device, facts] : *known) facts->wait_until(deadline);
}

template <typename T>
std::shared_ptr<const T> ConfigChecks::fresh(const task::BackgroundValue<T>& value,
                                             Clock::time_point now) const {
  const auto latest = value.latest();
  return latest.value && now - latest.read_at < kKept * interval_ ? latest.value : nullptr;
}

// One device's findings at a time: those of a large host would be megabytes.
void ConfigChecks::visit(Clock::time_point now,
                         const std::function<void(const doctor::Finding&)>& visitor) const {
  const auto known = devices();
  const auto system_facts = fresh(system_, now);
  const facts::SystemFacts nothing;
  const facts::SystemFacts& system = system_facts ? *system_facts : nothing;
  if (known->empty() && system.adapters.empty()) return;
  const auto show = [&](const doctor::Findings& findings) {
    for (const doctor::Finding& finding : findings)
      if (finding.check->kind == doctor::CheckKind::configuration &&
          finding.verdict != doctor::Verdict::unknown)
        visitor(finding);
  };
  std::vector<std::shared_ptr<const facts::DeviceFacts>> kept;
  for (const auto& [device, value] : *known) {
    auto facts = fresh(*value, now);
    if (facts) show(doctor::diagnose_device(*facts, system));
    kept.push_back(facts ? std::move(facts) : std::make_shared<const facts::DeviceFacts>(bare(*device)));
  }
  facts::DeviceRefs all;
  for (const auto& facts : kept) all.emplace_back(*facts);
  show(doctor::diagnose_host(system, all));
}

class ConfigCheckJob : public core::Job {
 public:
  ConfigCheckJob(std::shared_ptr<ConfigChecks> checks, const Context& context)
      : Job("config_check", ""),
        checks_(std::move(checks)),
        settings_(context.config_check),
        lean_(!context.metrics.full()) {}

  void run(core::JobRun& run) override {
    checks_->start_due(run.now());
    if (std::exchange(first_, false)) checks_->wait(settings_.first_wait);
    const std::uint64_t version = checks_->version();
    if (version != seen_version_ || schedule_.due(run.now())) render(run.now());
    seen_version_ = version;
    for (const auto& [labels, value] : rows_) run.samples().add_stable(kCheck, labels, value);
    for (const auto& [labels, count] : counts_)
      if (!lean_ || count > 0) run.samples().add_stable(kChecks, labels, count);
  }

 private:
  static constexpr std::array<std::string_view, 3> kVerdicts{"ok", "warning", "critical"};  // as value_of()
  struct Row {
    std::string device;
    std::uint64_t verdict;
  };

  // Several findings of one check about the same object become one series, with the worst verdict.
  void render(core::JobRun::Clock::time_point now) {
    schedule_.restart(now);
    rows_.clear();
    counts_.clear();
    std::map<std::string, Row> rows;
    checks_->visit(now, [&rows](const doctor::Finding& finding) {
      const std::string labels = core::render_labels({{"device", finding.subject.device},
                                                      {"port", finding.subject.port},
                                                      {"netdev", finding.subject.netdev},
                                                      {"check", finding.check->id}});
      Row& row = rows.try_emplace(labels, Row{finding.subject.device, 0}).first->second;
      row.verdict = std::max(row.verdict, value_of(finding.verdict));
    });
    for (const auto& [labels, row] : rows) {
      if (!lean_ || row.verdict > 0) rows_.emplace(labels, row.verdict);
      for (std::uint64_t verdict = 0; verdict < kVerdicts.size(); ++verdict)  // also those that are 0
        counts_[core::render_labels({{"device", row.device}, {"verdict", kVerdicts[verdict]}})] +=
            std::uint64_t{verdict == row.verdict};
    }
  }

  const std::shared_ptr<ConfigChecks> checks_;
  const ConfigCheckSettings settings_;
  const bool lean_;
  std::map<std::string, std::uint64_t> rows_;
  std::map<std::string, std::uint64_t> counts_;
  std::uint64_t seen_version_ = 0;
  task::Schedule schedule_{
      settings_.interval};  ///< what has become too old is looked for as often as it is read
  bool first_ = true;
};

class ConfigCheckCollector : public Collector {
 public:
  explicit ConfigCheckCollector(const Context& context) : context_(context) {
    if (context.background != nullptr)
      checks_ = std::make_shared<ConfigChecks>(*context.background, context.host, context.facts,
                                               context.config_check.interval);
  }
  std::shared_ptr<core::Job> host_job() override {
    if (!checks_) return nullptr;
    return std::make_shared<ConfigCheckJob>(checks_, context_);
  }
  void devices_changed(std::span<const DeviceHandle> handles) override {
    if (!checks_) return;
    std::vector<ConfigChecks::Device> devices;
    for (const DeviceHandle& handle : handles) devices.push_back(handle.device);
    checks_->set_devices(std::move(devices));
  }

 private:
  const Context& context_;
  std::shared_ptr<ConfigChecks> checks_;
};

std::span<const core::MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec config_check_spec;
const CollectorSpec config_check_spec{
    "config_check",
    "Configuration checks, the same as those of the doctor command: MTU, GIDs, PFC, ECN, PCIe and others",
    "what `doctor` checks, in the background ([DOCTOR.md](DOCTOR.md))",
    true,
    families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<ConfigCheckCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
