// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector port: state, speed, addresses and MTU of each port.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/attr_text.h"
#include "collectors/collector.h"
#include "core/job.h"
#include "core/labels.h"
#include "core/text/kernel_text.h"
#include "facts/fact_cache.h"
#include "host/events/port_states.h"
#include "host/events/unchanged.h"
#include "host/fs/host_fs.h"
#include "log/log.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kInfo{
    "rdma_port_info",
    MetricType::gauge,
    "device,port,link_layer,netdev,lid",
    "",
    "Link layer (Ethernet or InfiniBand), network interface and, on InfiniBand, LID of the port; always 1",
    "sysfs ports/N/link_layer, lid, gid_attrs/ndevs; RDMA netlink PORT_GET"};
constexpr MetricDesc kState{
    "rdma_port_state",
    MetricType::gauge,
    "device,port",
    "",
    "Logical state of the port: 0 no change, 1 down, 2 init, 3 armed, 4 active, 5 active deferred",
    "sysfs ports/N/state; RDMA netlink PORT_GET"};
constexpr MetricDesc kPhysicalState{"rdma_port_physical_state",
                                    MetricType::gauge,
                                    "device,port",
                                    "",
                                    "Physical state of the port: 1 sleep, 2 polling, 3 disabled, 4 training, "
                                    "5 link up, 6 error recovery, 7 test",
                                    "sysfs ports/N/phys_state; RDMA netlink PORT_GET"};
constexpr MetricDesc kUp{
    "rdma_port_up",
    MetricType::gauge,
    "device,port",
    "",
    "Whether the port is ACTIVE (state 4), the only state that carries RDMA traffic: 1 if so, else 0",
    "sysfs ports/N/state; RDMA netlink PORT_GET"};
constexpr MetricDesc kRate{"rdma_port_rate_bytes_per_second",
                           MetricType::gauge,
                           "device,port",
                           "bytes per second",
                           "Signalling rate of the port, all lanes together, in bytes per second. Absent "
                           "unless the port is ACTIVE, because a port that is down reports a default rate",
                           "sysfs ports/N/rate"};
constexpr MetricDesc kWidth{"rdma_port_width_lanes",
                            MetricType::gauge,
                            "device,port",
                            "lanes",
                            "Number of lanes in use (1, 2, 4, 8 or 12). Absent unless the port is ACTIVE",
                            "sysfs ports/N/rate"};
constexpr MetricDesc kLid{
    "rdma_port_lid",
    MetricType::gauge,
    "device,port",
    "",
    "Local identifier (LID) assigned by the subnet manager, also a label of rdma_port_info; 0 if none is "
    "assigned. InfiniBand only",
    "sysfs ports/N/lid; RDMA netlink PORT_GET",
    core::MetricSet::full};
constexpr MetricDesc kSmLid{"rdma_port_sm_lid",
                            MetricType::gauge,
                            "device,port",
                            "",
                            "LID of the subnet manager; 0 if none is known. InfiniBand only",
                            "sysfs ports/N/sm_lid; RDMA netlink PORT_GET"};
constexpr MetricDesc kActiveMtu{"rdma_port_active_mtu_bytes",
                                MetricType::gauge,
                                "device,port",
                                "bytes",
                                "RDMA path MTU in use: 256, 512, 1024, 2048 or 4096 bytes of payload",
                                "ibv_query_port active_mtu"};
constexpr MetricDesc kMaxMtu{"rdma_port_max_mtu_bytes",
                             MetricType::gauge,
                             "device,port",
                             "bytes",
                             "Largest RDMA path MTU that the port supports, in bytes of payload",
                             "ibv_query_port max_mtu",
                             core::MetricSet::full};
constexpr MetricDesc kGids{"rdma_port_gids",
                           MetricType::gauge,
                           "device,port,type",
                           "GIDs",
                           "Number of GID table entries in use. A RoCE port without a RoCE v2 GID cannot be "
                           "reached at its IP address",
                           "sysfs ports/N/gids, gid_attrs/types"};

constexpr std::array kFamilies{&kInfo, &kState, &kPhysicalState, &kUp,     &kRate, &kWidth,
                               &kLid,  &kSmLid, &kActiveMtu,     &kMaxMtu, &kGids};
static_assert(core::all_valid(std::array{kInfo, kState, kPhysicalState, kUp, kRate, kWidth, kLid, kSmLid,
                                         kActiveMtu, kMaxMtu, kGids}));

constexpr std::chrono::seconds kGidInterval{60};
constexpr std::chrono::seconds kMtuInterval{300};

// In the kernel's format: "0x1a".
std::string hex(std::uint32_t number) {
  std::array<char, 2 * sizeof number> digits{};
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return "0x" + std::string(digits.data(), written.ptr);
}

/// Summary of a port's GID table.
struct GidSummary {
  /// Number of GIDs by type; nullopt if the table does not exist or could not be read completely.
  struct Counts {
    std::uint64_t roce_v2 = 0;
    std::uint64_t ib_or_roce_v1 = 0;
  };
  std::optional<Counts> counts;
  std::string netdev;  ///< of the first GID that has one
};

/// Failures are counted in `run`, except EINVAL and ENOENT of empty slots (core/sysfs.c).
GidSummary summary_of(const facts::PortGids& read, core::JobRun& run) {
  for (const core::Error& error : read.slot_errors) count_unless_absent(error, run);
  for (const core::Error& error : read.netdev_errors) count_unless_absent(error, run);
  GidSummary summary;
  if (!read.gids) {
    count_unless_absent(read.gids.error(), run);
    return summary;
  }
  GidSummary::Counts counts;
  for (const host::Gid& gid : **read.gids) {
    if (gid.type == host::GidType::roce_v2) ++counts.roce_v2;
    if (gid.type == host::GidType::ib_or_roce_v1) ++counts.ib_or_roce_v1;
  }
  if (!read.netdevs.empty()) summary.netdev = read.netdevs.front();
  if (std::all_of(read.slot_errors.begin(), read.slot_errors.end(), means_absent)) summary.counts = counts;
  return summary;
}

// One port of the device.
class Port {
 public:
  Port(host::Host& host, const DeviceHandle& handle, std::shared_ptr<facts::DeviceCache> facts,
       std::uint32_t number)
      : host_(host),
        handle_(handle),
        facts_(std::move(facts)),
        number_(number),
        labels_(core::shared_labels({{"device", handle.device->name}, {"port", std::to_string(number)}})),
        gid_schedule_(kGidInterval, handle.device->port_path(number)),
        mtu_schedule_(kMtuInterval, handle.device->port_path(number)),
        rate_unchanged_(*host.changes) {}

  void run(core::JobRun& run) {
    const host::PortState state = handle_.port_states->get(number_, run.cycle());
    refresh(state, run);
    add_link(state, run);
    if (infiniband_) add_lids(state, run);
    add_slow_facts(state, run);
  }

 private:
  void refresh(const host::PortState& state, core::JobRun& run) {
    const std::optional<std::uint32_t> now_state = state.state ? std::optional(*state.state) : std::nullopt;
    const std::uint64_t changes = host_.changes->of(handle_.device->name) + host_.changes->of(info_netdev_);
    const bool changed = !first_ && (now_state != last_state_ || changes != seen_changes_);
    if (changed) {
      gid_schedule_.reset();
      mtu_schedule_.reset();
      rate_unchanged_.forget();
    }
    first_ = false;
    last_state_ = now_state;
    seen_changes_ = changes;
    const auto wanted = [&](std::chrono::seconds interval, bool at_once) -> facts::Wanted {
      if (changed || at_once) return {run.now(), {}, changed};
      return {run.now(), interval / 2};
    };
    if (gid_schedule_.take(run.now())) refresh_addresses(wanted(kGidInterval, gid_schedule_.failed()), run);
    if (host_.verbs && mtu_schedule_.take(run.now())) refresh_mtu(wanted(kMtuInterval, false), run);
  }

  void refresh_addresses(const facts::Wanted& wanted, core::JobRun& run) {
    const std::size_t errors = run.read_errors().size();
    update_attr_text(link_layer_, facts_->port(number_).link_layer(wanted), run);
    infiniband_ = link_layer_ == "InfiniBand";
    std::string netdev = std::move(gids_.netdev);
    gids_ = summary_of(*facts_->port(number_).gids(wanted), run);
    if (gids_.netdev.empty()) gids_.netdev = parent_netdev(run);
    const bool failed = run.read_errors().size() > errors;
    if (failed && gids_.netdev.empty()) gids_.netdev = std::move(netdev);
    gid_schedule_.ended(failed, run.now());
    info_labels_.clear();
  }

  // The interface if no GID names it: rxe reports it itself, and a PCI function may have only one.
  std::string parent_netdev(core::JobRun& run) const {
    const std::string& device = handle_.device->path;
    std::string parent = attr_text(*host_.sysfs, device + "/parent", run);
    if (!parent.empty()) return parent;
    const auto netdevs = host_.sysfs->list(device + "/device/net").value_or(std::vector<std::string>{});
    return netdevs.size() == 1 ? netdevs.front() : "";
  }

  void refresh_mtu(const facts::Wanted& wanted, core::JobRun& run) {
    const auto read = facts_->port(number_).mtu(wanted);
    const auto& mtu = *read;
    mtu_ = mtu ? std::optional(*mtu) : std::nullopt;
    if (mtu || host::means_no_verbs(mtu.error())) return;
    run.count_read_error(core::reason(mtu.error()));
    if (std::exchange(mtu_error_logged_, true)) return;
    log::warn("the RDMA MTU cannot be read from the verbs device",
              {{"device", handle_.device->name}, {"error", core::to_string(mtu.error())}});
  }

  void add_link(const host::PortState& state, core::JobRun& run) {
    facts::PortLink link{state.state, state.physical_state};
    if (state.state) {
      run.samples().add_stable(kState, *labels_, std::uint64_t{*state.state});
      run.samples().add_stable(kUp, *labels_, std::uint64_t{*state.state == host::kPortActive});
      if (*state.state == host::kPortActive) add_rate(link, run);
    } else {
      count_unless_absent(state.state.error(), run);
    }
    if (state.physical_state) {
      run.samples().add_stable(kPhysicalState, *labels_, std::uint64_t{*state.physical_state});
    } else {
      count_unless_absent(state.physical_state.error(), run);
    }
    facts_->port(number_).put_link(link, run.now());
  }

  // mlx5 asks the firmware for it. With Ethernet it is the speed of the interface, which changes only while
  // the link is down: an event.
  void add_rate(facts::PortLink& link, core::JobRun& run) {
    if (!rate_unchanged_.still({handle_.device->name, info_netdev_}, run.now()))
      rate_ = handle_.port_states->rate(number_, run.cycle());
    if (!rate_ || link_layer_ != "Ethernet" || info_netdev_.empty()) rate_unchanged_.forget();
    link.rate = rate_;
    // Here EINVAL also means absent: a width that the kernel's table does not contain (core/sysfs.c
    // rate_show).
    if (!link.rate) return count_unless_absent(link.rate.error(), run);
    run.samples().add_stable(kRate, *labels_, link.rate->bytes_per_second);
    run.samples().add_stable(kWidth, *labels_, std::uint64_t{link.rate->lanes});
  }

  void add_lids(const host::PortState& state, core::JobRun& run) {
    const auto lid = known_or_read(state.lid, "lid", run);
    const auto sm_lid = known_or_read(state.sm_lid, "sm_lid", run);
    if (lid) run.samples().add_stable(kLid, *labels_, std::uint64_t{*lid});
    if (sm_lid) run.samples().add_stable(kSmLid, *labels_, std::uint64_t{*sm_lid});
    if (!lid || lid == lid_) return;
    lid_ = lid;
    info_labels_.clear();
  }

  // Reading one of these files queries the port; netlink reports both values together with the port's state.
  std::optional<std::uint32_t> known_or_read(std::optional<std::uint32_t> known, std::string_view file,
                                             core::JobRun& run) {
    if (known) return known;
    std::array<char, 128> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read()
    const auto text = handle_.port_states->read(number_, run.cycle(), file, buffer);
    const auto lid = text ? core::parse_hex(*text) : tl::unexpected(text.error());
    if (lid) return *lid;
    count_unless_absent(lid.error(), run);
    return std::nullopt;
  }

  void add_slow_facts(const host::PortState& state, core::JobRun& run) {
    const std::string& netdev = state.netdev.empty() ? gids_.netdev : state.netdev;
    if (info_labels_.empty() || netdev != info_netdev_) {
      info_netdev_ = netdev;
      info_labels_ = core::render_labels({{"device", handle_.device->name},
                                          {"port", std::to_string(number_)},
                                          {"link_layer", link_layer_},
                                          {"netdev", netdev},
                                          {"lid", infiniband_ && lid_ ? hex(*lid_) : ""}});
    }
    run.samples().add_stable(kInfo, info_labels_, std::uint64_t{1});
    if (mtu_ && mtu_->active > 0) run.samples().add_stable(kActiveMtu, *labels_, std::uint64_t{mtu_->active});
    if (mtu_ && mtu_->max > 0) run.samples().add_stable(kMaxMtu, *labels_, std::uint64_t{mtu_->max});
    if (!gids_.counts) return;
    run.samples().add_stable(kGids, *labels_, gids_.counts->ib_or_roce_v1, "type=\"IB/RoCE v1\"");
    if (may_have_roce()) run.samples().add_stable(kGids, *labels_, gids_.counts->roce_v2, "type=\"RoCE v2\"");
  }

  // False if RoCE is impossible, so that a RoCE v2 GID is not missing: InfiniBand, EFA (link layer Unknown),
  // iWARP.
  bool may_have_roce() const {
    return !infiniband_ && link_layer_ != "Unknown" && handle_.device->protocol != "iw";
  }

  host::Host& host_;
  const DeviceHandle handle_;
  const std::shared_ptr<facts::DeviceCache> facts_;
  const std::uint32_t number_;
  const core::SharedText labels_;
  task::RetryingSchedule gid_schedule_;
  task::Schedule mtu_schedule_;
  host::Unchanged rate_unchanged_;

  bool first_ = true;
  std::optional<std::uint32_t> last_state_;
  std::uint64_t seen_changes_ = 0;
  std::string link_layer_;
  bool infiniband_ = false;
  GidSummary gids_;
  core::Result<core::LinkRate> rate_;
  std::optional<host::PortMtu> mtu_;
  bool mtu_error_logged_ = false;
  std::optional<std::uint32_t> lid_;
  std::string info_netdev_;
  std::string info_labels_;
};

class PortJob : public core::Job {
 public:
  PortJob(const Context& context, const DeviceHandle& handle) : Job("port", handle.device->name) {
    const auto facts = context.facts->of(context.host, handle.device);
    for (const std::uint32_t number : handle.device->ports)
      ports_.push_back(std::make_unique<Port>(context.host, handle, facts, number));
  }
  void run(core::JobRun& run) override {
    for (const auto& port : ports_) port->run(run);
  }

 private:
  std::vector<std::unique_ptr<Port>> ports_;
};

std::span<const MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec port_spec;
const CollectorSpec port_spec{
    "port",   "Port state, speed, GIDs and MTU", "`ports/N`: state, rate, GIDs; verbs for the MTU", true,
    families, make_per_device<PortJob>};

}  // namespace rdma_exporter::collectors
