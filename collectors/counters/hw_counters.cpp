// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector hw_counters: the counters drivers keep beyond the PMA ones, per port (one netlink STAT_GET
// message, the files of ports/N/hw_counters where that does not work) and per device (hw_counters/).
#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/counter_set.h"
#include "collectors/counters/hw_table.h"
#include "collectors/counters/port_families.h"
#include "collectors/counters/sysfs_counters.h"
#include "core/labels.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/nldev.h"
#include "log/log.h"

namespace rdma_exporter::collectors {
namespace {

// How long the files are read before netlink is tried again after the kernel refused it. EINVAL: a device
// without port statistics, or an older kernel; EMSGSIZE: more counters than one page holds (hfi1).
constexpr std::chrono::seconds kNetlinkRetry{60};

CounterRules hw_rules(const Context& context, host::Driver driver) {
  CounterRules rules{port_hw_rows(driver), &kPortHwCounter};
  rules.raw_value = &kPortHwValue;
  rules.unwrap = true;  // rows say which fields are narrower than 64 bits
  rules.raw = context.raw;
  rules.driver = driver;
  // All-ones stands for a counter that the driver could not decode (hw/ionic/ionic_hw_stats.c).
  if (driver == host::Driver::ionic) rules.undecodable = ~std::uint64_t{0};
  return rules;
}

CounterRules device_rules(const Context& context, host::Driver driver) {
  CounterRules rules = hw_rules(context, driver);
  rules.rows = device_hw_rows(driver);
  rules.raw_counter = &kDeviceHwCounter;
  rules.raw_value = &kDeviceHwValue;
  return rules;
}

class PortHwCounters {
 public:
  PortHwCounters(const Context& context, const host::Device& device, std::uint32_t port)
      : counters_(hw_rules(context, device.driver),
                  core::render_labels({{"device", device.name}, {"port", std::to_string(port)}}),
                  context.carry_over->take(device.id, std::to_string(port) + "/hw_counters")),
        files_(context.host, device.port_path(port) + "/hw_counters") {
    if (device.netlink_index) request_ = host::nldev::device_request(*device.netlink_index, port);
  }

  void run(host::Netlink* netlink, core::JobRun& run) {
    if (netlink == nullptr || !read_netlink(*netlink, run)) files_.read(counters_, run);
    counters_.emit(run);
  }

 private:
  struct Value {
    std::string_view name;
    std::uint64_t value;
  };

  // False when the files have to be read instead.
  bool read_netlink(host::Netlink& netlink, core::JobRun& run) {
    if (!request_ || run.now() < netlink_not_before_) return false;
    core::Result<void> parsed;
    const auto sent = netlink.request(host::nldev::kStatGet, 0, *request_, [&](host::Bytes answer) {
      values_.clear();
      parsed = host::nldev::parse_counters(answer, [&](std::string_view name, std::uint64_t value) {
        values_.push_back({name, value});
      });
      if (parsed) take_values();
    });
    if (sent && parsed) return true;
    const core::Error& error = sent ? parsed.error() : sent.error();
    if (!core::is_errno(error, EINVAL) && !core::is_errno(error, EMSGSIZE))
      run.count_read_error(core::reason(error));
    netlink_not_before_ = run.now() + kNetlinkRetry;
    return false;
  }

  // While the answer's bytes are there: names are compared with the last answer's, which is nearly always the
  // same.
  void take_values() {
    bool same = values_.size() == counters_.names().size();
    for (std::size_t i = 0; same && i < values_.size(); ++i) same = values_[i].name == counters_.names()[i];
    if (!same) {
      std::vector<std::string> names;
      for (const Value& value : values_) names.emplace_back(value.name);
      counters_.set_names(std::move(names));
    }
    for (std::size_t i = 0; i < values_.size(); ++i) counters_.put(i, values_[i].value);
  }

  CounterSet counters_;
  SysfsCounters files_;
  std::optional<std::vector<std::byte>> request_;
  core::JobRun::Clock::time_point netlink_not_before_;
  std::vector<Value> values_;
};

class HwCountersJob : public core::Job {
 public:
  HwCountersJob(const Context& context, std::shared_ptr<const host::Device> device)
      : Job("hw_counters", device->name),
        host_(context.host),
        device_(std::move(device)),
        netlink_(device_->netlink_index ? host::kept_netlink(host_, host::NetlinkProtocol::rdma) : nullptr),
        device_counters_(device_rules(context, device_->driver),
                         core::render_labels({{"device", device_->name}}),
                         context.carry_over->take(device_->id, "hw_counters")),
        device_files_(host_, device_->path + "/hw_counters") {
    for (const std::uint32_t port : device_->ports) ports_.emplace_back(context, *device_, port);
  }

  void run(core::JobRun& run) override {
    for (PortHwCounters& port : ports_) port.run(netlink_.get(), run);
    if (!is_real_device()) return;
    device_files_.read(device_counters_, run);
    device_counters_.emit(run);
  }

 private:
  // Reading device-level hw_counters from a network namespace that does not own the device crashes kernels
  // without the fix of CVE-2025-22089, and no version says which ones have it. There the device is a "compat"
  // one, which never has counters below its ports (core/sysfs.c setup_port): those prove the real device.
  // Looked at each time: the name may lead to another device, the ports of a new one come after itself.
  bool is_real_device() {
    for (const std::uint32_t port : device_->ports) {
      for (const char* directory : {"/counters", "/hw_counters"})
        if (host_.sysfs->exists(device_->port_path(port) + directory)) return true;
    }
    if (!device_->ports.empty() && !refusal_logged_ && host_.sysfs->exists(device_->path + "/hw_counters")) {
      refusal_logged_ = true;
      log::warn(
          "device-level hw_counters are not read: no port has counters, so the device may belong to another "
          "network namespace, from where reading them can crash the kernel",
          {{"device", device_->name}});
    }
    return false;
  }

  host::Host& host_;
  std::shared_ptr<const host::Device> device_;
  std::unique_ptr<host::Netlink> netlink_;
  std::deque<PortHwCounters> ports_;
  CounterSet device_counters_;
  SysfsCounters device_files_;
  bool refusal_logged_ = false;
};

class HwCounters : public Collector {
 public:
  explicit HwCounters(const Context& context) : context_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    return std::make_shared<HwCountersJob>(context_, handle.device);
  }

 private:
  const Context& context_;
};

std::vector<CounterTable> counter_tables() {
  std::vector<CounterTable> all;
  for (std::uint8_t i = 0; i < host::kDrivers; ++i) {
    const auto driver = static_cast<host::Driver>(i);
    all.push_back({"ports/N/hw_counters", host::to_string(driver), port_hw_rows(driver)});
    all.push_back({"hw_counters", host::to_string(driver), device_hw_rows(driver)});
  }
  std::erase_if(all, [](const CounterTable& table) { return table.rows.empty(); });
  return all;
}

}  // namespace

extern const CollectorSpec hw_counters_spec;
const CollectorSpec hw_counters_spec{"hw_counters",
                                     "Driver counters per port and per device (hw_counters, RDMA netlink)",
                                     true,
                                     hw_families,
                                     [](const Context& context) -> std::unique_ptr<Collector> {
                                       return std::make_unique<HwCounters>(context);
                                     },
                                     counter_tables};

}  // namespace rdma_exporter::collectors
