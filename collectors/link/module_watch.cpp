// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/link/module_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <utility>

#include "core/labels.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/module/module_eeprom.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/kept_netlink.h"
#include "log/caught.h"

namespace rdma_exporter::collectors {
namespace {

// Not an error: no module; a driver that cannot read modules (also ENOTSUPP of include/linux/errno.h); no
// permission (reported by rdma_exporter_missing_privilege); a module that is starting or being updated; an
// interface that has disappeared.
bool is_ordinary(const core::Error& error) {
  constexpr int kKernelNotSupported = 524;
  constexpr std::array kOrdinary{EOPNOTSUPP, kKernelNotSupported, EINVAL, EPERM, EAGAIN, EBUSY, ENODEV,
                                 ENOENT};
  return std::any_of(kOrdinary.begin(), kOrdinary.end(), [&](int one) { return core::is_errno(error, one); });
}

std::string info_labels(const host::ModuleFacts& facts) {
  return core::render_labels({{"type", facts.type},
                              {"connector", facts.connector},
                              {"media", facts.media},
                              {"vendor", facts.vendor},
                              {"part_number", facts.part_number},
                              {"revision", facts.revision},
                              {"serial_number", facts.serial_number},
                              {"rx_power_kind", facts.rx_power_kind}});
}

}  // namespace

ModuleWatch::ModuleWatch(host::Host& host, std::shared_ptr<const host::Netdev> netdev,
                         std::chrono::milliseconds interval)
    : netdev_(std::move(netdev)),
      sysfs_(*host.sysfs),
      netlink_(host::kept_netlink(host, host::NetlinkProtocol::generic)),
      schedule_(interval, kMaxWait) {}

bool ModuleWatch::claim(Clock::time_point now, const std::string& carrier_changes) {
  const std::lock_guard lock(mutex_);
  const bool changed = std::exchange(carrier_changes_, carrier_changes) != carrier_changes;
  if (changed) {
    schedule_.postpone(now);
    facts_schedule_.reset();
  }
  if (busy_ || !schedule_.due(now)) return false;
  busy_ = true;
  claimed_ = now;
  facts_wanted_ = facts_schedule_.due(now);
  return true;
}

void ModuleWatch::read() {
  core::Result<ModuleReport> report = core::parse_error();
  try {
    report = make_report();
  } catch (const std::exception& error) {  // out of memory
    log::caught("a module could not be read", error);
  }
  const std::lock_guard lock(mutex_);
  busy_ = false;
  if (report) {
    if (facts_wanted_) facts_schedule_.restart(claimed_);
    schedule_.restart(claimed_);
    latest_ = std::make_shared<const ModuleReport>(std::move(*report));
  } else {
    facts_schedule_.reset();
    schedule_.back_off(claimed_);
    latest_ = nullptr;
    const std::string_view reason = core::reason(report.error());
    const bool known = std::find(errors_.begin(), errors_.end(), reason) != errors_.end();
    if (!known && !is_ordinary(report.error())) errors_.push_back(reason);
  }
  ended_.notify_all();
}

core::Result<ModuleReport> ModuleWatch::make_report() {
  // A virtual function sees the module of its physical function, or nothing.
  if (sysfs_.exists(netdev_->path + "/device/physfn")) return core::os_error(EOPNOTSUPP);
  const auto reader = [this](const host::ModuleRange& range) { return read_range(range); };
  if (facts_wanted_ || !facts_) {
    facts_.reset();
    auto facts = host::read_module_facts(reader);
    if (!facts) return tl::unexpected(facts.error());
    facts_ = std::move(*facts);
  }
  auto readings = host::read_module_readings(reader, *facts_);
  if (!readings) return tl::unexpected(readings.error());
  return ModuleReport{claimed_, *facts_, std::move(*readings), info_labels(*facts_)};
}

core::Result<std::vector<std::byte>> ModuleWatch::read_range(const host::ModuleRange& range) {
  const auto number = family();
  if (!number) return tl::unexpected(number.error());
  return host::ask<std::vector<std::byte>>(
      *netlink_, *number, host::module_eeprom::request(netdev_->name, range),
      [&](host::Bytes answer) { return host::module_eeprom::parse(answer, range.length); });
}

core::Result<std::uint16_t> ModuleWatch::family() {
  if (family_) return *family_;
  const auto family = host::generic_netlink::find_family(*netlink_, host::genl_ethtool::kFamily);
  if (family) family_ = *family;
  return family;
}

bool ModuleWatch::is_busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

std::shared_ptr<const ModuleReport> ModuleWatch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::vector<std::string_view> ModuleWatch::take_errors() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

void ModuleWatch::wait_for_first(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, at_most, [this] { return !busy_; });
}

void ModuleQueue::add(std::shared_ptr<ModuleWatch> watch) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(watch));
    if (std::exchange(running_, true)) return;
  }
  background_.start([self = shared_from_this()] {
    while (const auto due = self->next()) due->read();
  });
}

std::shared_ptr<ModuleWatch> ModuleQueue::next() {
  const std::lock_guard lock(mutex_);
  running_ = !waiting_.empty();
  if (!running_) return nullptr;
  auto watch = std::move(waiting_.front());
  waiting_.pop_front();
  return watch;
}

}  // namespace rdma_exporter::collectors
