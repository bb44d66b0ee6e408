// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector hw_counters: the counters that drivers keep in addition to the PMA ones, per port (one netlink
// STAT_GET message, or the files of ports/N/hw_counters if that does not work) and per device (hw_counters/).
#include <cerrno>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/carry_over.h"
#include "collectors/counters/counter_set.h"
#include "collectors/counters/sysfs_counters.h"
#include "collectors/counters/tables/hw_table.h"
#include "collectors/counters/tables/port_families.h"
#include "core/labels.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/topology/network_namespace.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

// Most devices have no counters of their own. The first search is repeated after twice this time, then after
// twice as long each time, up to a minute: the kernel creates the directory shortly after the device.
constexpr std::chrono::milliseconds kLook{2500};
constexpr std::chrono::seconds kLongestLook{60};

// After the kernel has refused netlink, the files are read for this long. EINVAL: a device without port
// statistics, or an older kernel; EMSGSIZE: more counters than fit into a page (hfi1).
constexpr std::chrono::seconds kNetlinkRetry{60};

// A device without counters below its ports is asked for its network namespace this often, until it is known
// to be the real one.
constexpr std::chrono::seconds kNamespaceRetry{60};

CounterRules hw_rules(const Context& context, const host::Device& device) {
  const host::Driver driver = device.driver;
  CounterRules rules{port_hw_rows(driver), &kPortRaw};
  rules.raw_value = &kPortRawValue;
  rules.raw_source = R"(source="hw_counters")";
  rules.unwrap = true;  // the rows say which fields are narrower than 64 bits
  rules.selection = &context.metrics;
  rules.lean = !context.metrics.full();
  if (rules.lean && device.protocol == "ib") rules.left_out = counts_roce_only;
  rules.raw = context.raw;
  rules.driver = driver;
  // All ones stand for a counter that the driver could not decode (hw/ionic/ionic_hw_stats.c).
  if (driver == host::Driver::ionic) rules.undecodable = ~std::uint64_t{0};
  return rules;
}

CounterRules device_rules(const Context& context, const host::Device& device) {
  CounterRules rules = hw_rules(context, device);
  rules.rows = device_hw_rows(device.driver);
  rules.raw_counter = &kDeviceRaw;
  rules.raw_value = &kDeviceRawValue;
  rules.raw_source = {};
  return rules;
}

class PortHwCounters {
 public:
  PortHwCounters(const Context& context, const host::Device& device, std::uint32_t port)
      : counters_(hw_rules(context, device),
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

  // False if the files have to be read instead.
  bool read_netlink(host::Netlink& netlink, core::JobRun& run) {
    if (!request_ || !netlink_schedule_.due(run.now())) return false;
    const auto answered = host::ask<void>(netlink, host::nldev::kStatGet, *request_, [&](host::Bytes answer) {
      values_.clear();
      return host::nldev::parse_counters(answer,
                                         [&](std::string_view name, std::uint64_t value) {
                                           values_.push_back({name, value});
                                         })
          .map([&] { take_values(); });
    });
    if (answered) return true;
    const core::Error& error = answered.error();
    if (!core::is_errno(error, EINVAL) && !core::is_errno(error, EMSGSIZE))
      run.count_read_error(core::reason(error));
    netlink_schedule_.restart(run.now());
    return false;
  }

  // Called while the answer's bytes are valid: names are compared with those of the last answer and are
  // nearly always the same.
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
  task::Schedule netlink_schedule_{kNetlinkRetry};
  std::vector<Value> values_;
};

class HwCountersJob : public core::Job {
 public:
  HwCountersJob(const Context& context, std::shared_ptr<const host::Device> device)
      : Job("hw_counters", device->name),
        host_(context.host),
        device_(std::move(device)),
        context_(context),
        netlink_(device_->netlink_index ? host::kept_netlink(host_, host::NetlinkProtocol::rdma) : nullptr) {
    for (const std::uint32_t port : device_->ports) ports_.emplace_back(context, *device_, port);
  }

  void run(core::JobRun& run) override {
    for (PortHwCounters& port : ports_) port.run(netlink_.get(), run);
    if (!has_own_counters(run.now()) || !is_real_device(run.now())) return;
    if (!device_counters_) device_counters_ = std::make_unique<DeviceCounters>(context_, *device_);
    device_counters_->files.read(device_counters_->counters, run);
    device_counters_->counters.emit(run);
  }

 private:
  /// The counters of the device itself, which few drivers have.
  struct DeviceCounters {
    DeviceCounters(const Context& context, const host::Device& device)
        : counters(device_rules(context, device), core::render_labels({{"device", device.name}}),
                   context.carry_over->take(device.id, "hw_counters")),
          files(context.host, device.path + "/hw_counters") {}

    CounterSet counters;
    SysfsCounters files;
  };

  bool has_own_counters(core::JobRun::Clock::time_point now) {
    if (own_counters_ || !look_.due(now)) return own_counters_;
    const std::string path = device_->path + "/hw_counters";
    // Check both calls: a recording may contain only one of them.
    own_counters_ = host_.sysfs->exists(path) || host_.sysfs->open_dir(path).has_value();
    look_.back_off(now);
    return own_counters_;
  }

  // Reading device-level hw_counters from a network namespace that does not own the device crashes kernels
  // without the fix of CVE-2025-22089, and the version does not show which kernels have it.
  bool is_real_device(core::JobRun::Clock::time_point now) {
    if (has_port_counters()) return true;
    // cxgb4 has device counters, and none at the port.
    if (!of_first_namespace_ && namespace_schedule_.take(now))
      of_first_namespace_ = host::is_of_first_network_namespace(host_, *device_);
    if (of_first_namespace_) return true;
    if (!device_->ports.empty() && !std::exchange(refusal_logged_, true)) {
      log::warn(
          "device-level hw_counters are not read: no port has counters, so the device may belong to another "
          "network namespace, and reading them from here can crash the kernel",
          {{"device", device_->name}});
    }
    return false;
  }

  // In a namespace that does not own it, the device is a "compat" device, which never has counters below its
  // ports (core/sysfs.c setup_port). Checked each time: the name may lead to another device, and the ports of
  // a new device appear after the device itself.
  bool has_port_counters() const {
    for (const std::uint32_t port : device_->ports) {
      for (const char* directory : {"/counters", "/hw_counters"})
        if (host_.sysfs->exists(device_->port_path(port) + directory)) return true;
    }
    return false;
  }

  host::Host& host_;
  std::shared_ptr<const host::Device> device_;
  const Context& context_;
  std::unique_ptr<host::Netlink> netlink_;
  std::list<PortHwCounters> ports_;
  bool own_counters_ = false;
  std::unique_ptr<DeviceCounters> device_counters_;  ///< null before they are read
  task::Schedule look_{kLook, kLongestLook};
  bool of_first_namespace_ = false;
  task::Schedule namespace_schedule_{kNamespaceRetry};
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
                                     "RDMA netlink, or `ports/N/hw_counters` and `hw_counters`",
                                     true,
                                     hw_families,
                                     [](const Context& context) -> std::unique_ptr<Collector> {
                                       return std::make_unique<HwCounters>(context);
                                     },
                                     counter_tables};

}  // namespace rdma_exporter::collectors
