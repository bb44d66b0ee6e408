// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector devlink: errors seen by the driver's health reporters of each adapter, and the running and stored
// firmware. Read in the background (devlink_instance.h); a scrape serves the last reading.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "collectors/collector.h"
#include "collectors/link/devlink_instance.h"
#include "collectors/netdev_labels.h"
#include "core/labels.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

// clang-format off
constexpr MetricDesc kErrors{
    "rdma_device_health_errors_total", MetricType::counter, "device,reporter", "errors",
    "Errors recorded by a devlink health reporter of the adapter's driver. reporter=\"fw\": the firmware "
    "reported a fault or stopped counting; fw_fatal: the firmware must be reset; other reporters are "
    "driver-specific",
    "devlink HEALTH_REPORTER_GET"};
constexpr MetricDesc kRecoveries{
    "rdma_device_health_recoveries_total", MetricType::counter, "device,reporter", "recoveries",
    "Successful recoveries started by a devlink health reporter",
    "devlink HEALTH_REPORTER_GET",
    core::MetricSet::full};
constexpr MetricDesc kInError{
    "rdma_device_health_error", MetricType::gauge, "device,reporter", "",
    "Whether a devlink health reporter is in the error state: 1 if so, else 0. The fw reporter of mlx5 has "
    "no recovery and stays in error until the driver is reloaded, so watch its error count instead",
    "devlink HEALTH_REPORTER_GET"};
constexpr MetricDesc kDumpTime{
    "rdma_device_health_dump_timestamp_seconds", MetricType::gauge, "device,reporter", "seconds",
    "Time at which the dump kept by a devlink health reporter was made, in seconds since 1970. It is of the "
    "first error since the dump was last cleared. Absent if there is no dump",
    "devlink HEALTH_REPORTER_GET"};
constexpr MetricDesc kVersions{
    "rdma_device_firmware_version_info", MetricType::gauge, "device,component,running,stored", "",
    "Running version of a firmware component, and the version in flash that takes effect at the next reset; "
    "always 1. mlx5, bnxt_en and ice",
    "devlink INFO_GET"};
constexpr MetricDesc kPending{
    "rdma_device_firmware_update_pending", MetricType::gauge, "device,component", "",
    "Whether the stored version of a firmware component differs from the running one, so that an update is "
    "waiting for a reset: 1 if so, else 0",
    "devlink INFO_GET"};
constexpr MetricDesc kNetdevErrors{
    "rdma_netdev_health_errors_total", MetricType::counter, "device,port,netdev,reporter", "errors",
    "Errors recorded by a devlink health reporter of the interface's port. mlx5: reporters tx and rx cover "
    "stalled or failed queues of the Ethernet interface, not RDMA queues",
    "devlink HEALTH_REPORTER_GET"};
constexpr MetricDesc kNetdevRecoveries{
    "rdma_netdev_health_recoveries_total", MetricType::counter, "device,port,netdev,reporter", "recoveries",
    "Successful recoveries started by a devlink health reporter of the interface's port",
    "devlink HEALTH_REPORTER_GET",
    core::MetricSet::full};
constexpr MetricDesc kNetdevInError{
    "rdma_netdev_health_error", MetricType::gauge, "device,port,netdev,reporter", "",
    "Whether a devlink health reporter of the interface's port is in the error state: 1 if so, else 0",
    "devlink HEALTH_REPORTER_GET"};
constexpr MetricDesc kPortInfo{
    "rdma_netdev_devlink_port_info", MetricType::gauge,
    "device,port,netdev,handle,port_index,flavour,port_number", "",
    "Port of the interface as named by `devlink port show` (handle/port_index), with its flavour and "
    "number; always 1. On mlx5 the number is that of the physical function, not of the cage",
    "devlink PORT_GET",
    core::MetricSet::full};
// clang-format on

constexpr std::array kFamilies{&kErrors,  &kRecoveries,   &kInError,          &kDumpTime,      &kVersions,
                               &kPending, &kNetdevErrors, &kNetdevRecoveries, &kNetdevInError, &kPortInfo};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* family) { return core::valid(*family); }));

// The series of one report, rendered once.
class Rows {
 public:
  void add(const MetricDesc& family, std::string labels, std::variant<std::uint64_t, double> value) {
    rows_.push_back({&family, std::move(labels), value});
  }
  void clear() { rows_.clear(); }
  void emit(core::SampleBatch& out) const {
    for (const auto& [family, labels, value] : rows_)
      std::visit([&, family = family, &labels = labels](auto v) { out.add_stable(*family, labels, v); },
                 value);
  }

 private:
  struct Row {
    const MetricDesc* family;
    std::string labels;
    std::variant<std::uint64_t, double> value;
  };
  std::vector<Row> rows_;
};

std::string with_label(std::string labels, std::string_view name, std::string_view value) {
  core::append_label(labels, name, value);
  return labels;
}

// A job that serves the reports of the devlink instance of the device at a path.
class DevlinkJob : public core::Job {
 public:
  DevlinkJob(std::shared_ptr<DevlinkInstances> instances, std::chrono::milliseconds first_wait,
             std::string path, const std::string& device, const std::string& netdev = {})
      : Job("devlink", device, netdev),
        instances_(std::move(instances)),
        first_wait_(first_wait),
        path_(std::move(path)) {}

  void run(core::JobRun& run) override {
    if (std::exchange(first_, false)) {
      instance_ = instances_->find(path_);
      if (instance_) instance_->start_if_due(run.now());
      if (instance_) instance_->wait_for_first(first_wait_);
    }
    if (!instance_) return;
    instance_->start_if_due(run.now());
    const auto report = instance_->latest(run.now());
    if (!report && instance_->is_late(run.now())) run.count_read_error("ETIMEDOUT");
    if (!report) return;
    if (report != rendered_) {
      rendered_ = report;
      rows_.clear();
      render(*report, rows_, run);
    }
    rows_.emit(run.samples());
  }

 private:
  virtual void render(const DevlinkReport& report, Rows& rows, core::JobRun& run) = 0;

  const std::shared_ptr<DevlinkInstances> instances_;
  const std::chrono::milliseconds first_wait_;
  const std::string path_;
  bool first_ = true;
  std::shared_ptr<DevlinkInstance> instance_;
  std::shared_ptr<const DevlinkReport> rendered_;
  Rows rows_;
};

struct ReporterFamilies {
  const MetricDesc& errors;
  const MetricDesc& recoveries;
  const MetricDesc& in_error;
};

void render_reporter(const host::devlink::Reporter& reporter, const std::string& labels,
                     const ReporterFamilies& families, Rows& rows) {
  if (reporter.errors) rows.add(families.errors, labels, *reporter.errors);
  if (reporter.recoveries) rows.add(families.recoveries, labels, *reporter.recoveries);
  rows.add(families.in_error, labels, std::uint64_t{reporter.in_error});
}

class DeviceJob : public DevlinkJob {
 public:
  DeviceJob(std::shared_ptr<DevlinkInstances> instances, std::chrono::milliseconds first_wait,
            const host::Device& device)
      : DevlinkJob(std::move(instances), first_wait, device.path + "/device", device.name),
        labels_(core::shared_labels({{"device", device.name}})) {}

 private:
  void render(const DevlinkReport& report, Rows& rows, core::JobRun& run) override {
    for (const std::string_view reason : report.errors) run.count_read_error(reason);
    constexpr double kNanoseconds = 1e9;
    std::set<std::string> seen;
    for (const auto& reporter : report.reporters) {
      if (reporter.port_index || !seen.insert(reporter.name).second) continue;
      const std::string labels = with_label(*labels_, "reporter", reporter.name);
      render_reporter(reporter, labels, {kErrors, kRecoveries, kInError}, rows);
      if (reporter.dump_time_ns)
        rows.add(kDumpTime, labels, static_cast<double>(*reporter.dump_time_ns) / kNanoseconds);
    }
    for (const auto& version : report.versions) {
      const std::string labels = with_label(*labels_, "component", version.component);
      rows.add(kVersions,
               with_label(with_label(labels, "running", version.running), "stored", version.stored),
               std::uint64_t{1});
      if (!version.running.empty() && !version.stored.empty())
        rows.add(kPending, labels, std::uint64_t{version.running != version.stored});
    }
  }

  const core::SharedText labels_;
};

class NetdevJob : public DevlinkJob {
 public:
  NetdevJob(std::shared_ptr<DevlinkInstances> instances, std::chrono::milliseconds first_wait,
            const host::Netdev& netdev)
      : DevlinkJob(std::move(instances), first_wait, netdev.path + "/device", netdev.device, netdev.name),
        netdev_(netdev.name),
        labels_(netdev_labels(netdev)) {}

 private:
  void render(const DevlinkReport& report, Rows& rows, core::JobRun& /*run*/) override {
    const auto port = std::find_if(report.ports.begin(), report.ports.end(),
                                   [&](const host::devlink::Port& p) { return p.netdev == netdev_; });
    if (port == report.ports.end()) return;
    std::set<std::string> seen;
    for (const auto& reporter : report.reporters)
      if (reporter.port_index == port->index && seen.insert(reporter.name).second)
        render_reporter(reporter, with_label(*labels_, "reporter", reporter.name),
                        {kNetdevErrors, kNetdevRecoveries, kNetdevInError}, rows);
    std::string labels = with_label(*labels_, "handle", port->handle.text());
    core::append_label(labels, "port_index", std::to_string(port->index));
    core::append_label(labels, "flavour", port->flavour);
    core::append_label(labels, "port_number", port->number ? std::to_string(*port->number) : "");
    rows.add(kPortInfo, std::move(labels), std::uint64_t{1});
  }

  const std::string netdev_;
  const core::SharedText labels_;
};

class DevlinkCollector : public Collector {
 public:
  // A single collection waits for the background reading, like that of config_check.
  explicit DevlinkCollector(const Context& context) : first_wait_(context.config_check.first_wait) {
    // A tree of files has no netlink, which is the only source.
    if (context.background != nullptr && context.host.speaks(host::NetlinkProtocol::generic))
      instances_ = std::make_shared<DevlinkInstances>(*context.background, context.host);
  }
  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    if (!instances_) return nullptr;
    return std::make_shared<DeviceJob>(instances_, first_wait_, *handle.device);
  }
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    if (!instances_) return nullptr;
    return std::make_shared<NetdevJob>(instances_, first_wait_, *netdev);
  }

 private:
  std::chrono::milliseconds first_wait_;
  std::shared_ptr<DevlinkInstances> instances_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec devlink_spec;
const CollectorSpec devlink_spec{
    "devlink",
    "Health reporters of each adapter, and running against stored firmware versions",
    "the adapter's devlink instance, in the background ([LINK.md](LINK.md))",
    true,
    families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<DevlinkCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
