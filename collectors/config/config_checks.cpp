// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/config/config_checks.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "doctor/checks/checks.h"
#include "doctor/gather/gather.h"
#include "log/caught.h"

namespace rdma_exporter::collectors {
namespace {

// What is known of a device before it has answered: enough to know that it is there.
doctor::DeviceFacts bare(const host::Device& device) {
  doctor::DeviceFacts facts;
  facts.name = device.name;
  facts.family = device.driver;
  return facts;
}

}  // namespace

ConfigChecks::ConfigChecks(core::Background& background, host::Host& host, std::chrono::milliseconds interval)
    : background_(background), host_(host), interval_(interval) {}

void ConfigChecks::set_devices(std::vector<Device> devices) {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  for (Device& device : devices) {
    const auto known = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const Entry& entry) { return entry.device == device; });
    entries.push_back(known == devices_.end() ? Entry{std::move(device), {}} : std::move(*known));
  }
  devices_ = std::move(entries);
  system_.started.reset();  // adapters and devices belong together
  ++version_;
}

// `find` finds the reading again when it has ended: the device may have gone meanwhile.
template <typename T, typename Read, typename Find>
void ConfigChecks::prepare_if_due(Reading<T>& reading, Clock::time_point now, Tasks& tasks, Read read,
                                  Find find) {
  if (reading.going_on) return background_.tend();
  if (reading.started && now - *reading.started < interval_) return;
  reading.going_on = true;
  reading.started = now;
  tasks.emplace_back([self = shared_from_this(), read = std::move(read), find = std::move(find)] {
    std::shared_ptr<const T> facts;
    try {
      facts = std::make_shared<const T>(read(self->host_));
    } catch (const std::exception& error) {  // out of memory: the next one may do better
      log::caught("the configuration was not checked", error);
    }
    const std::lock_guard lock(self->mutex_);
    ++self->version_;
    if (Reading<T>* mine = find(*self)) {
      mine->going_on = false;
      mine->ended = Clock::now();
      mine->facts = std::move(facts);
    }
    self->ended_.notify_all();
  });
}

ConfigChecks::Tasks ConfigChecks::due_tasks(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Tasks tasks;
  prepare_if_due(system_, now, tasks, doctor::gather_system,
                 [](ConfigChecks& self) { return &self.system_; });
  for (Entry& entry : devices_)
    prepare_if_due(
        entry.reading, now, tasks,
        [device = entry.device](host::Host& host) { return doctor::gather_device(host, device); },
        [device = entry.device](ConfigChecks& self) -> Reading<doctor::DeviceFacts>* {
          for (Entry& known : self.devices_)
            if (known.device == device) return &known.reading;
          return nullptr;
        });
  return tasks;
}

void ConfigChecks::start_due(Clock::time_point now) {
  for (auto& task : due_tasks(now)) background_.start(std::move(task));
}

bool ConfigChecks::is_idle() const {
  return !system_.going_on && std::none_of(devices_.begin(), devices_.end(),
                                           [](const Entry& entry) { return entry.reading.going_on; });
}

void ConfigChecks::wait(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, at_most, [this] { return is_idle(); });
}

template <typename T>
bool ConfigChecks::is_fresh(const Reading<T>& reading, Clock::time_point now) const {
  return reading.facts && now - *reading.ended < kKept * interval_;
}

doctor::Findings ConfigChecks::findings(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const doctor::SystemFacts nothing;
  const doctor::SystemFacts& system = is_fresh(system_, now) ? *system_.facts : nothing;
  if (devices_.empty() && system.adapters.empty()) return {};
  std::vector<doctor::DeviceFacts> devices;
  doctor::Findings all;
  for (const Entry& entry : devices_) {
    const bool fresh = is_fresh(entry.reading, now);
    devices.push_back(fresh ? *entry.reading.facts : bare(*entry.device));
    if (!fresh) continue;
    doctor::Findings own = doctor::diagnose_device(devices.back(), system);
    std::move(own.begin(), own.end(), std::back_inserter(all));
  }
  doctor::Findings common = doctor::diagnose_host(system, devices);
  std::move(common.begin(), common.end(), std::back_inserter(all));
  std::erase_if(all, [](const doctor::Finding& finding) {
    return finding.check->kind != doctor::CheckKind::configuration ||
           finding.verdict == doctor::Verdict::unknown;
  });
  return all;
}

std::uint64_t ConfigChecks::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace rdma_exporter::collectors
