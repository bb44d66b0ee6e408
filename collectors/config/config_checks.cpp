// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/config/config_checks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "doctor/checks/checks.h"
#include "facts/gather.h"

namespace rdma_exporter::collectors {
namespace {

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

}  // namespace

ConfigChecks::ConfigChecks(task::Background& background, host::Host& host, std::chrono::milliseconds interval)
    : background_(background),
      host_(host),
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
    const auto read_device = [self = shared_from_this(), device = device, facts = facts, now] {
      return std::make_shared<const facts::DeviceFacts>(
          facts::gather_device(self->host_, device, facts->memory, {self->addresses_, now}));
    };
    const auto latest = facts->latest();
    const std::uint64_t changes = changes_of(*device, latest.value.get());
    if (std::exchange(facts->seen_changes, changes) != changes)
      facts->postpone(latest.read_at + std::min(interval_, kAfterChange));
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

}  // namespace rdma_exporter::collectors
