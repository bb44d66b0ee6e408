// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/link/devlink_instance.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/result.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/kept_netlink.h"

namespace rdma_exporter::collectors {
namespace {

namespace devlink = host::devlink;

// ENOENT: a kernel without devlink; ENODEV: no instance of that name, or it is being removed; EOPNOTSUPP: a
// driver without such an operation, or a recording in which the request was not made.
bool means_none(const core::Error& error) {
  return core::is_errno(error, ENOENT) || core::is_errno(error, ENODEV) || core::is_errno(error, EOPNOTSUPP);
}

void note(const core::Error& error, DevlinkReport& report) {
  if (!means_none(error)) report.errors.push_back(core::reason(error));
}

// What mlx5 returns for a version that its firmware does not report or that it failed to read
// (mlx5_core/fw.c). Each such query writes a warning to the kernel log.
bool is_no_version(const std::string& text) {
  constexpr std::array<std::string_view, 2> kNone{"0.0.0000", "255.255.65535"};
  return std::find(kNone.begin(), kNone.end(), text) != kNone.end();
}

}  // namespace

DevlinkInstance::DevlinkInstance(task::Background& background, host::Host& host, devlink::Handle handle)
    : host_(host),
      handle_(std::move(handle)),
      report_(background, task::Schedule(kHealthInterval), "devlink was not read") {}

void DevlinkInstance::start_if_due(Clock::time_point now) {
  report_.read_if_due(now, [self = shared_from_this(), now] { return self->read(now); });
}

std::shared_ptr<const DevlinkReport> DevlinkInstance::latest(Clock::time_point now) const {
  auto report = report_.latest().value;
  return report && now < report->valid_until ? report : nullptr;
}

bool DevlinkInstance::is_late(Clock::time_point now) const {
  const auto since = report_.running_since();
  return since && now >= *since + (1 + kKept) * kHealthInterval;
}

void DevlinkInstance::wait_for_first(std::chrono::milliseconds at_most) {
  if (!report_.latest().value) report_.wait_until(Clock::now() + at_most);
}

std::shared_ptr<const DevlinkReport> DevlinkInstance::read(Clock::time_point now) {
  auto report = std::make_shared<DevlinkReport>();
  read_all(now, *report);
  const bool watched = !report->reporters.empty() || !report->errors.empty();
  const Clock::duration interval = watched ? kHealthInterval : kFactsInterval;
  report_.postpone(now + interval);
  report->valid_until = now + kKept * interval;
  return report;
}

void DevlinkInstance::read_all(Clock::time_point now, DevlinkReport& report) {
  if (!netlink_) netlink_ = host::kept_netlink(host_, host::NetlinkProtocol::generic);
  if (!netlink_ || !find_family(report)) return;
  read_reporters(report);
  if (facts_schedule_.take(now)) read_facts(report);
  report.ports = ports_;
  report.versions = versions_;
}

bool DevlinkInstance::find_family(DevlinkReport& report) {
  if (family_) return true;
  const auto family = host::generic_netlink::find_family(*netlink_, devlink::kFamily);
  if (!family) {
    note(family.error(), report);
    return false;
  }
  family_ = *family;
  return true;
}

void DevlinkInstance::read_reporters(DevlinkReport& report) {
  const auto on_part = [&](host::Bytes part) {
    const auto reporter = devlink::parse_reporter(part);
    if (!reporter)
      note(reporter.error(), report);
    else if (reporter->handle == handle_)
      report.reporters.push_back(*reporter);
    return report.reporters.size() < kMaxReporters;
  };
  if (const auto done = netlink_->dump(*family_, devlink::reporters_request(handle_), on_part); !done)
    note(done.error(), report);
}

void DevlinkInstance::read_facts(DevlinkReport& report) {
  read_ports(report);
  if (versions_wanted_) read_versions(report);
}

void DevlinkInstance::read_ports(DevlinkReport& report) {
  ports_.clear();
  const auto on_part = [&](host::Bytes part) {
    const auto port = devlink::parse_port(part);
    if (!port)
      note(port.error(), report);
    else if (port->handle == handle_)
      ports_.push_back(*port);
    return ports_.size() < kMaxPorts;
  };
  if (const auto done = netlink_->dump(*family_, devlink::ports_request(handle_), on_part); !done)
    note(done.error(), report);
}

void DevlinkInstance::read_versions(DevlinkReport& report) {
  versions_.clear();
  auto versions = host::ask<std::vector<devlink::Version>>(
      *netlink_, *family_, devlink::info_request(handle_), devlink::parse_info);
  if (!versions) return note(versions.error(), report);
  for (devlink::Version& version : *versions) {
    if (is_no_version(version.running) || is_no_version(version.stored))
      versions_wanted_ = false;
    else
      versions_.push_back(std::move(version));
  }
}

std::shared_ptr<DevlinkInstance> DevlinkInstances::find(const std::string& path) {
  const auto handle = devlink::find_handle(*host_.sysfs, path);
  if (!handle) return nullptr;
  const std::lock_guard lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DevlinkInstance>& known = known_[handle->text()];
  auto instance = known.lock();
  if (!instance) {
    instance = std::make_shared<DevlinkInstance>(background_, host_, *handle);
    known = instance;
  }
  return instance;
}

}  // namespace rdma_exporter::collectors
