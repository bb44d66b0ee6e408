// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector roce_config: the settings that decide how the fabric treats RoCE traffic: MTU, traffic class, ToS
// of connections, congestion control. It reads whichever path exists, of the upstream driver or the vendor's,
// and never creates anything, not even in configfs or debugfs.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "collectors/config/congestion_parameters.h"
#include "collectors/netdev_labels.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "facts/fact_cache.h"
#include "host/events/unchanged.h"
#include "host/fs/attr_files.h"
#include "host/topology/netdev.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kMtu{"rdma_netdev_mtu_bytes",
                          MetricType::gauge,
                          "device,port,netdev",
                          "bytes",
                          "MTU of the network interface of an RDMA port, in bytes. An RDMA path MTU of 4096 "
                          "needs at least 4200; with less, the path MTU falls to 2048 or 1024",
                          "sysfs mtu of the interface",
                          core::MetricSet::full};
constexpr MetricDesc kTrafficClass{"rdma_port_roce_traffic_class",
                                   MetricType::gauge,
                                   "device,port",
                                   "",
                                   "Traffic class (DSCP x 4 + ECN) that the driver forces on all RoCE "
                                   "packets. Absent if none is forced. MLNX_OFED drivers only",
                                   "sysfs tc/N/traffic_class"};
constexpr MetricDesc kTtl{
    "rdma_port_roce_ttl",
    MetricType::gauge,
    "device,port",
    "",
    "Hop limit that the driver forces on RoCE packets. Absent if none is forced. MLNX_OFED drivers only",
    "sysfs ttl/N/ttl"};
constexpr MetricDesc kCmTos{
    "rdma_port_cm_default_tos",
    MetricType::gauge,
    "device,port",
    "",
    "Type of service (DSCP x 4 + ECN) of rdma_cm connections that do not request one. Absent unless the "
    "device's configfs directory has been created; the exporter does not create it",
    "configfs rdma_cm/DEVICE/ports/N/default_roce_tos"};
constexpr MetricDesc kCmMode{
    "rdma_port_cm_default_roce_mode_info",
    MetricType::gauge,
    "device,port,mode",
    "",
    "GID type used by rdma_cm connections: RoCE v2, or IB/RoCE v1; always 1. Absent unless the device's "
    "configfs directory has been created; the exporter does not create it",
    "configfs rdma_cm/DEVICE/ports/N/default_roce_mode"};

constexpr std::chrono::seconds kDeviceInterval{60};       // files in kernel memory
constexpr std::chrono::seconds kCongestionInterval{300};  // some 20 to 40 firmware commands

std::span<const MetricDesc* const> families() {
  static const std::vector<const MetricDesc*> families = [] {
    static_assert(core::all_valid(std::array{kMtu, kTrafficClass, kTtl, kCmTos, kCmMode}));
    std::vector<const MetricDesc*> all{&kMtu, &kTrafficClass, &kTtl, &kCmTos, &kCmMode};
    const auto congestion = congestion_families();
    all.insert(all.end(), congestion.begin(), congestion.end());
    return all;
  }();
  return families;
}

// The number in a file. Most hosts have few of these files.
template <typename Text>
std::optional<std::uint64_t> number(const core::Result<Text>& text, core::JobRun& run) {
  const auto value = text ? core::parse_counter(*text) : tl::unexpected(text.error());
  if (value) return *value;
  count_unless_absent(value.error(), run);
  return std::nullopt;
}

// The MTU of an interface: read again when an event reports a change.
class InterfaceMtu {
 public:
  InterfaceMtu(host::Host& host, const host::Netdev& netdev)
      : files_(*host.sysfs, netdev.path, host.open_files), unchanged_(*host.changes) {}

  void add(const std::string& netdev, const std::string& labels, core::JobRun& run) {
    if (!unchanged_.still({netdev}, run.now())) {
      std::array<char, 64> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
      const auto listed = files_.refresh();
      mtu_ = number(listed ? files_.read("mtu", buffer) : tl::unexpected(listed.error()), run);
      if (!mtu_) unchanged_.forget();
    }
    if (mtu_) run.samples().add_stable(kMtu, labels, *mtu_);
  }

 private:
  host::AttrFiles files_;
  host::Unchanged unchanged_;
  std::optional<std::uint64_t> mtu_;
};

class NetdevJob : public core::Job {
 public:
  NetdevJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev,
            std::shared_ptr<std::atomic<bool>> forbidden_logged)
      : Job("roce_config", netdev->device, netdev->name),
        netdev_(netdev),
        labels_(netdev_labels(*netdev)),
        mtu_(context.metrics.has(kMtu) ? std::make_unique<InterfaceMtu>(context.host, *netdev) : nullptr),
        congestion_(*context.host.sysfs, netdev->path, context.facts->of(*netdev), labels_),
        schedule_(kCongestionInterval, netdev->name),
        forbidden_logged_(std::move(forbidden_logged)) {}

  void run(core::JobRun& run) override {
    if (mtu_) mtu_->add(netdev(), *labels_, run);
    if (netdev_->driver != "mlx5_core") return;
    const facts::Wanted wanted{run.now(), kCongestionInterval / 2};
    if (schedule_.take(run.now()) && congestion_.refresh(wanted, run) && !forbidden_logged_->exchange(true))
      log::info("only root can read the congestion control parameters, which are in debugfs",
                {{"netdev", netdev_->name}});
    congestion_.add(run.samples());
  }

 private:
  const std::shared_ptr<const host::Netdev> netdev_;
  const core::SharedText labels_;
  const std::unique_ptr<InterfaceMtu> mtu_;  ///< null where it is not exported
  CongestionParameters congestion_;
  task::Schedule schedule_;
  const std::shared_ptr<std::atomic<bool>> forbidden_logged_;
};

// Values that are forced or preset for the connections of one port.
class PortPresets {
 public:
  PortPresets(host::HostFs& sysfs, std::shared_ptr<const host::Device> device,
              std::shared_ptr<facts::DeviceCache> facts, std::uint32_t port)
      : sysfs_(sysfs),
        device_(std::move(device)),
        facts_(std::move(facts)),
        number_(port),
        labels_(core::shared_labels({{"device", device_->name}, {"port", std::to_string(port)}})) {}

  void refresh(core::JobRun& run) {
    const auto classes = facts_->port(number_).classes({run.now(), kDeviceInterval / 2});
    if (!classes->forced) count_unless_absent(classes->forced.error(), run);
    traffic_class_ = classes->forced.value_or(std::nullopt);
    if (!classes->preset) count_unless_absent(classes->preset.error(), run);
    cm_tos_ = classes->preset.value_or(std::nullopt);
    const std::string port = std::to_string(number_);
    ttl_ = number(sysfs_.read(device_->path + "/ttl/" + port + "/ttl"), run);
    if (ttl_ == 0U) ttl_.reset();  // 0: none is forced
    const std::string mode = attr_text(
        sysfs_, "kernel/config/rdma_cm/" + device_->name + "/ports/" + port + "/default_roce_mode", run);
    cm_mode_ = mode.empty() ? "" : core::render_labels({{"mode", mode}});
  }

  void add(core::SampleBatch& out) const {
    if (traffic_class_) out.add_stable(kTrafficClass, *labels_, std::uint64_t{*traffic_class_});
    if (ttl_) out.add_stable(kTtl, *labels_, *ttl_);
    if (cm_tos_) out.add_stable(kCmTos, *labels_, *cm_tos_);
    if (!cm_mode_.empty()) out.add_stable(kCmMode, *labels_, std::uint64_t{1}, cm_mode_);
  }

 private:
  host::HostFs& sysfs_;
  const std::shared_ptr<const host::Device> device_;
  const std::shared_ptr<facts::DeviceCache> facts_;
  const std::uint32_t number_;
  const core::SharedText labels_;
  std::optional<std::uint32_t> traffic_class_;
  std::optional<std::uint64_t> ttl_;
  std::optional<std::uint64_t> cm_tos_;
  std::string cm_mode_;
};

class DeviceJob : public core::Job {
 public:
  DeviceJob(const Context& context, const DeviceHandle& handle)
      : Job("roce_config", handle.device->name), schedule_(kDeviceInterval, handle.device->name) {
    const auto facts = context.facts->of(context.host, handle.device);
    for (const std::uint32_t port : handle.device->ports)
      ports_.push_back(std::make_unique<PortPresets>(*context.host.sysfs, handle.device, facts, port));
  }
  void run(core::JobRun& run) override {
    const bool due = schedule_.take(run.now());
    for (const auto& port : ports_) {
      if (due) port->refresh(run);
      port->add(run.samples());
    }
  }

 private:
  task::Schedule schedule_;
  std::vector<std::unique_ptr<PortPresets>> ports_;
};

class RoceConfigCollector : public Collector {
 public:
  explicit RoceConfigCollector(const Context& context) : context_(context) {}
  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    return std::make_shared<DeviceJob>(context_, handle);
  }
  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    return std::make_shared<NetdevJob>(context_, netdev, forbidden_logged_);
  }

 private:
  const Context& context_;
  std::shared_ptr<std::atomic<bool>> forbidden_logged_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

extern const CollectorSpec roce_config_spec;
const CollectorSpec roce_config_spec{
    "roce_config",
    "RoCE settings: MTU of the interface, traffic class, ToS of connections, ECN and DCQCN",
    "MTU, ECN, DCQCN, traffic class and ToS where the driver shows them ([DCB.md](DCB.md))",
    true,
    families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<RoceConfigCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
