// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector device: identity of each RDMA device, whether it is up, and its PCIe link.
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "core/intern.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "facts/fact_cache.h"
#include "host/events/port_states.h"
#include "host/topology/pci.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kDevices{"rdma_devices",
                              MetricType::gauge,
                              "",
                              "devices",
                              "Number of RDMA devices that are present and not excluded by the configuration",
                              "sysfs class/infiniband"};
constexpr MetricDesc kInfo{
    "rdma_device_info",
    MetricType::gauge,
    "device,fw_version,board_id,hca_type,hw_rev,node_guid,sys_image_guid,driver,protocol,node_type,pci_"
    "address,"
    "vendor_id,device_id,numa_node,is_vf,physfn",
    "",
    "Identity of the device; always 1. sys_image_guid is the same for all ports and functions of one card",
    "sysfs class/infiniband/DEVICE and its PCI function; RDMA netlink GET"};
constexpr MetricDesc kUp{"rdma_device_up",
                         MetricType::gauge,
                         "device",
                         "",
                         "Whether at least one port of the device is ACTIVE: 1 if so, else 0. A device that "
                         "disappears is reported as 0 until device.forget_after has passed",
                         "sysfs ports/N/state; RDMA netlink PORT_GET"};
constexpr MetricDesc kPcieSpeed{"rdma_device_pcie_speed_transfers_per_second",
                                MetricType::gauge,
                                "device",
                                "transfers per second",
                                "Current speed of the device's PCIe link, in transfers per second and lane "
                                "(16 GT/s is 1.6e10). For a VF, the link of its physical function",
                                "sysfs device/current_link_speed"};
constexpr MetricDesc kPcieMaxSpeed{
    "rdma_device_pcie_max_speed_transfers_per_second",
    MetricType::gauge,
    "device",
    "transfers per second",
    "Highest PCIe link speed that the device supports, in transfers per second and lane",
    "sysfs device/max_link_speed"};
constexpr MetricDesc kPcieWidth{"rdma_device_pcie_width_lanes",
                                MetricType::gauge,
                                "device",
                                "lanes",
                                "Number of PCIe lanes in use. For a VF, the link of its physical function",
                                "sysfs device/current_link_width"};
constexpr MetricDesc kPcieMaxWidth{"rdma_device_pcie_max_width_lanes",
                                   MetricType::gauge,
                                   "device",
                                   "lanes",
                                   "Highest number of PCIe lanes that the device supports",
                                   "sysfs device/max_link_width"};
constexpr MetricDesc kFirmwarePages{"rdma_device_firmware_pages",
                                    MetricType::gauge,
                                    "device,kind",
                                    "pages",
                                    "Host memory pages given to the firmware (kind=\"fw\") and pages of "
                                    "registered memory (kind=\"reg\"). mlx5 only",
                                    "sysfs fw_pages, reg_pages (hw/mlx5/main.c)",
                                    core::MetricSet::full};

constexpr std::array kFamilies{&kDevices,      &kInfo,      &kUp,           &kPcieSpeed,
                               &kPcieMaxSpeed, &kPcieWidth, &kPcieMaxWidth, &kFirmwarePages};
static_assert(core::all_valid(std::array{kDevices, kInfo, kUp, kPcieSpeed, kPcieMaxSpeed, kPcieWidth,
                                         kPcieMaxWidth, kFirmwarePages}));

constexpr std::chrono::seconds kFactsInterval{60};
// Facts that do not change while a device is registered are read in the first two rounds, because the kernel
// shows a device before its attributes, and then only in each tenth round.
constexpr unsigned kFixedFactsEvery = 10;

// "1: CA" -> "CA" (node_type, core/sysfs.c node_type_show).
std::string after_colon(std::string_view text) {
  const std::size_t at = text.find(": ");
  return std::string(at == std::string_view::npos ? text : text.substr(at + 2));
}

// The protocol according to sysfs, if netlink did not report it.
std::string protocol_from(std::string_view node_type, std::string_view link_layer) {
  if (node_type == "RNIC") return "iw";
  if (link_layer == "InfiniBand") return "ib";
  if (link_layer == "Ethernet") return "roce";
  return "";
}

// Facts of a device that change rarely, rendered in advance.
class Identity {
 public:
  Identity(host::HostFs& sysfs, const host::Device& device, std::shared_ptr<facts::DeviceCache> facts,
           bool with_pages)
      : sysfs_(sysfs),
        device_(device),
        facts_(std::move(facts)),
        with_pages_(with_pages),
        labels_(core::shared_labels({{"device", device.name}})),
        schedule_(kFactsInterval, device.name) {}

  void refresh_if_due(core::JobRun& run) {
    if (!schedule_.take(run.now())) return;
    const std::size_t errors = run.read_errors().size();
    const facts::Wanted wanted{run.now(), schedule_.failed() ? task::Clock::duration{} : kFactsInterval / 2};
    refresh_adapter(wanted, run);
    if (schedule_.failed() || looks_ < 2 || looks_ % kFixedFactsEvery == 0) refresh_fixed(wanted, run);
    refresh_changing(wanted, run);
    schedule_.ended(run.read_errors().size() > errors, run.now());
    ++looks_;
  }

  void add(core::SampleBatch& out) const {
    out.add_stable(kInfo, info_labels_, std::uint64_t{1});
    const facts::PcieEnd& link = adapter_->link;
    if (link.speed) out.add_stable(kPcieSpeed, *labels_, *link.speed);
    if (link.max_speed) out.add_stable(kPcieMaxSpeed, *labels_, *link.max_speed);
    if (link.width) out.add_stable(kPcieWidth, *labels_, std::uint64_t{*link.width});
    if (link.max_width) out.add_stable(kPcieMaxWidth, *labels_, std::uint64_t{*link.max_width});
    for (const auto& [labels, pages] : pages_) out.add_stable(kFirmwarePages, labels, pages);
  }

  const std::string& labels() const { return *labels_; }

 private:
  // What the fixed labels of kInfo are made of, as the kernel says it. Devices of one model share it.
  struct Fixed {
    std::string board_id;
    std::string hca_type;
    std::string hw_rev;
    std::string node_type;
    std::string link_layer;  ///< of the first port
    std::string vendor_id;
    std::string device_id;
    bool operator==(const Fixed&) const = default;
  };
  // The others: the firmware may be updated in operation, and an administrator may change the rest.
  struct Changing {
    std::string fw_version;
    std::string node_guid;
    std::string numa_node;
    bool operator==(const Changing&) const = default;
  };

  void update_own(std::string& label, const char* file, core::JobRun& run) {
    update_attr_text(label, sysfs_.read(device_.path + "/" + file), run);
  }
  void update_of_pci(std::string& label, const char* file, core::JobRun& run) {
    const std::string& path = adapter_->function.path;
    if (path.empty()) return label.clear();
    update_attr_text(label, sysfs_.read(path + "/" + file), run);
  }

  // The link is absent without PCI (software devices) and if the kernel says "Unknown". Garbage is an error.
  void refresh_adapter(const facts::Wanted& wanted, core::JobRun& run) {
    adapter_ = facts_->adapter(wanted);
    for (const core::Error& error : adapter_->errors) count_unless_absent(error, run);
  }

  void refresh_fixed(const facts::Wanted& wanted, core::JobRun& run) {
    Fixed now = *fixed_;
    update_attr_text(now.node_type, facts_->node_type(wanted), run);
    if (!device_.ports.empty())
      update_attr_text(now.link_layer, facts_->port(device_.ports.front()).link_layer(wanted), run);
    update_attr_text(now.board_id, facts_->board_id(wanted), run);
    update_own(now.hca_type, "hca_type", run);
    update_own(now.hw_rev, "hw_rev", run);
    update_own(sys_image_guid_, "sys_image_guid", run);
    update_of_pci(now.vendor_id, "vendor", run);
    update_of_pci(now.device_id, "device", run);
    fixed_ = core::intern(std::move(now));
    info_labels_.clear();
  }

  void refresh_changing(const facts::Wanted& wanted, core::JobRun& run) {
    Changing now = changing_;
    update_attr_text(now.fw_version, facts_->firmware(wanted), run);
    update_own(now.node_guid, "node_guid", run);
    update_attr_text(now.numa_node, facts_->numa_node(wanted), run);
    if (now != changing_) info_labels_.clear();
    changing_ = std::move(now);
    if (info_labels_.empty()) info_labels_ = render_info();
    pages_.clear();
    if (!with_pages_) return;
    for (const char* kind : {"fw", "reg"}) {
      const auto text = sysfs_.read(device_.path + "/" + kind + "_pages");
      const auto pages = text ? core::parse_counter(*text) : tl::unexpected(text.error());
      if (!pages) count_unless_absent(pages.error(), run);
      if (pages && *pages) pages_.emplace_back(*labels_ + ",kind=\"" + kind + "\"", **pages);
    }
  }

  std::string render_info() const {
    const host::PciFunction& pci = adapter_->function;
    const std::string node_type = after_colon(fixed_->node_type);
    const std::string driver = device_.parent_driver.empty() && device_.driver != host::Driver::unknown
                                   ? std::string(host::to_string(device_.driver))
                                   : device_.parent_driver;
    return core::render_labels(
        {{"device", device_.name},
         {"fw_version", changing_.fw_version},
         {"board_id", fixed_->board_id},
         {"hca_type", fixed_->hca_type},
         {"hw_rev", fixed_->hw_rev},
         {"node_guid", changing_.node_guid},
         {"sys_image_guid", sys_image_guid_},
         {"driver", driver},
         {"protocol",
          device_.protocol.empty() ? protocol_from(node_type, fixed_->link_layer) : device_.protocol},
         {"node_type", node_type},
         {"pci_address", pci.address},
         {"vendor_id", fixed_->vendor_id},
         {"device_id", fixed_->device_id},
         {"numa_node", changing_.numa_node},
         {"is_vf", pci.is_vf() ? "1" : "0"},
         {"physfn", pci.physfn}});
  }

  host::HostFs& sysfs_;
  const host::Device& device_;
  const std::shared_ptr<facts::DeviceCache> facts_;
  const bool with_pages_;
  const core::SharedText labels_;
  task::RetryingSchedule schedule_;
  unsigned looks_ = 0;
  std::shared_ptr<const Fixed> fixed_ = core::intern(Fixed());
  std::string sys_image_guid_;
  Changing changing_;
  std::string info_labels_;
  std::shared_ptr<const facts::AdapterEnd> adapter_ = std::make_shared<const facts::AdapterEnd>();
  std::vector<std::pair<std::string, std::uint64_t>> pages_;
};

class DeviceJob : public core::Job {
 public:
  DeviceJob(const Context& context, DeviceHandle handle)
      : Job("device", handle.device->name),
        handle_(std::move(handle)),
        identity_(*context.host.sysfs, *handle_.device, context.facts->of(context.host, handle_.device),
                  context.metrics.has(kFirmwarePages)) {}

  void run(core::JobRun& run) override {
    identity_.refresh_if_due(run);
    identity_.add(run.samples());
    bool known = false;
    bool up = false;
    for (const std::uint32_t port : handle_.device->ports) {
      // The collector port counts ports that cannot be read; here their state is just unknown.
      const auto state = handle_.port_states->get(port, run.cycle()).state;
      known = known || state.has_value();
      up = up || (state && *state == host::kPortActive);
    }
    if (known || handle_.device->ports.empty())
      run.samples().add_stable(kUp, identity_.labels(), std::uint64_t{up});
  }

 private:
  DeviceHandle handle_;
  Identity identity_;
};

// Devices that have disappeared. Discovery writes them, the host's job reads them.
class VanishedDevices {
 public:
  using Clock = std::chrono::steady_clock;

  void set_present(std::span<const DeviceHandle> devices, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : std::exchange(present_, {})) vanished_.try_emplace(name, now);
    for (const DeviceHandle& handle : devices) {
      present_.push_back(handle.device->name);
      vanished_.erase(handle.device->name);
    }
  }

  void add(core::SampleBatch& out, std::chrono::seconds forget_after, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(vanished_, [&](const auto& entry) { return now - entry.second >= forget_after; });
    out.add(kDevices, {}, std::uint64_t{present_.size()});
    for (const auto& entry : vanished_)
      out.add_flag(kUp, core::render_labels({{"device", entry.first}}), false);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> present_;
  std::map<std::string, Clock::time_point> vanished_;
};

class HostJob : public core::Job {
 public:
  HostJob(std::shared_ptr<VanishedDevices> devices, std::chrono::seconds forget_after)
      : Job("device", ""), devices_(std::move(devices)), forget_after_(forget_after) {}
  void run(core::JobRun& run) override { devices_->add(run.samples(), forget_after_, run.now()); }

 private:
  std::shared_ptr<VanishedDevices> devices_;
  std::chrono::seconds forget_after_;
};

class DeviceCollector : public Collector {
 public:
  explicit DeviceCollector(const Context& context) : context_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    return std::make_shared<DeviceJob>(context_, handle);
  }
  std::shared_ptr<core::Job> host_job() override {
    return std::make_shared<HostJob>(vanished_, context_.forget_after);
  }
  void devices_changed(std::span<const DeviceHandle> devices) override {
    vanished_->set_present(devices, VanishedDevices::Clock::now());
  }

 private:
  const Context& context_;
  std::shared_ptr<VanishedDevices> vanished_ = std::make_shared<VanishedDevices>();
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec device_spec;
const CollectorSpec device_spec{"device",
                                "Identity, firmware and PCIe link of each device, and whether it is up",
                                "`/sys/class/infiniband/DEVICE` and its PCI function",
                                true,
                                families,
                                [](const Context& context) -> std::unique_ptr<Collector> {
                                  return std::make_unique<DeviceCollector>(context);
                                }};

}  // namespace rdma_exporter::collectors
