// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector dcb: priority flow control, scheduling and the mapping of traffic to priorities, from the
// kernel's DCB interface.
//
// It sends one request. If the driver counts PFC frames in memory (bnxt_en, ice, i40e), the request is sent
// with each scrape. With other drivers it is sent every kInterval: on mlx5 it costs some 30 register accesses
// under the RTNL lock, and the rest of the answer is configuration.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/ethtool/ethtool_table.h"
#include "collectors/ethtool/netdev_operation.h"
#include "collectors/ethtool/netdev_shared.h"
#include "collectors/netdev_labels.h"
#include "core/labels.h"
#include "core/metric.h"
#include "facts/fact_cache.h"
#include "host/netlink/dcb.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/netlink.h"
#include "host/topology/netdev.h"
#include "task/schedule.h"

namespace rdma_exporter::collectors {
namespace {

// clang-format off

constexpr core::MetricDesc kDcbPfcEnabled{
    "rdma_dcb_pfc_enabled", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Whether priority flow control (PFC) is enabled for the priority, which makes its traffic lossless: 1 "
    "if so, else 0. The switch port must be configured the same way",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_en"};
constexpr core::MetricDesc kDcbPfcMaxTrafficClasses{
    "rdma_dcb_pfc_max_traffic_classes", core::MetricType::gauge, "device,port,netdev", "traffic classes",
    "Number of traffic classes that the adapter can make lossless at the same time",
    "rtnetlink DCB IEEE_GET ieee_pfc.pfc_cap", core::MetricSet::full};
constexpr core::MetricDesc kDcbPfcDelay{
    "rdma_dcb_pfc_delay_bytes", core::MetricType::gauge, "device,port,netdev", "bytes",
    "Bytes that may still arrive after this host has told its peer to stop, for which its buffers must have "
    "room. Absent on mlx5, which stores a cable length in this field",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay (bit times) / 8", core::MetricSet::full};
constexpr core::MetricDesc kDcbCableLength{
    "rdma_dcb_cable_length_meters", core::MetricType::gauge, "device,port,netdev", "meters",
    "Cable length in metres for which mlx5 sizes the headroom of lossless buffers. It is a setting, not a "
    "measurement",
    "rtnetlink DCB IEEE_GET ieee_pfc.delay of mlx5 (en_dcbnl.c)", core::MetricSet::full};
constexpr core::MetricDesc kDcbEtsWilling{
    "rdma_dcb_ets_willing", core::MetricType::gauge, "device,port,netdev", "",
    "Whether the host accepts its ETS configuration from the switch over DCBX: 1 if so, else 0",
    "rtnetlink DCB IEEE_GET ieee_ets.willing", core::MetricSet::full};
constexpr core::MetricDesc kDcbTrafficClasses{
    "rdma_dcb_ets_traffic_classes", core::MetricType::gauge, "device,port,netdev", "traffic classes",
    "Number of traffic classes that the adapter has",
    "rtnetlink DCB IEEE_GET ieee_ets.ets_cap", core::MetricSet::full};
constexpr core::MetricDesc kDcbEtsBandwidth{
    "rdma_dcb_ets_bandwidth_ratio", core::MetricType::gauge, "device,port,netdev,tc", "ratio",
    "Guaranteed share of the transmit bandwidth (0 to 1) of the traffic class. Only for traffic classes "
    "scheduled by ETS",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tx_bw / 100"};
constexpr core::MetricDesc kDcbTsa{
    "rdma_dcb_tsa_info", core::MetricType::gauge, "device,port,netdev,tc,tsa", "",
    "How the traffic class is scheduled; always 1. strict (before all others), ets (by share), credit_based "
    "or vendor",
    "rtnetlink DCB IEEE_GET ieee_ets.tc_tsa", core::MetricSet::full};
constexpr core::MetricDesc kDcbPriorityTc{
    "rdma_dcb_priority_tc", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Number of the traffic class in which the priority is sent",
    "rtnetlink DCB IEEE_GET ieee_ets.prio_tc"};
constexpr core::MetricDesc kDcbApp{
    "rdma_dcb_app_info", core::MetricType::gauge, "device,port,netdev,selector,protocol,priority", "",
    "Entry of the DCB APP table, which assigns the traffic of a protocol to a priority; always 1. RoCE v2 "
    "is selector udp, protocol 4791; RoCE v1 is ethertype 0x8915; dscp maps a DSCP value",
    "rtnetlink DCB IEEE_GET dcb_app"};
constexpr core::MetricDesc kDcbTrust{
    "rdma_dcb_trust_info", core::MetricType::gauge, "device,port,netdev,trust,inferred", "",
    "What determines the priority of a received packet: dscp or pcp (VLAN tag); always 1. This is inferred, "
    "because no kernel interface reports it: dscp if the APP table has a DSCP entry. Wrong if firmware or a "
    "vendor tool has set it otherwise",
    "rtnetlink DCB IEEE_GET dcb_app"};
constexpr core::MetricDesc kDcbBuffer{
    "rdma_dcb_buffer_bytes", core::MetricType::gauge, "device,port,netdev,buffer", "bytes",
    "Size of a receive buffer of the port, in bytes. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.buffer_size", core::MetricSet::full};
constexpr core::MetricDesc kDcbPortBuffer{
    "rdma_dcb_port_buffer_bytes", core::MetricType::gauge, "device,port,netdev", "bytes",
    "Receive buffer memory of the port, shared by all buffers of rdma_dcb_buffer_bytes, in bytes. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.total_size", core::MetricSet::full};
constexpr core::MetricDesc kDcbPriorityBuffer{
    "rdma_dcb_priority_buffer", core::MetricType::gauge, "device,port,netdev,priority", "",
    "Number of the receive buffer in which the priority arrives. mlx5 only",
    "rtnetlink DCB IEEE_GET dcbnl_buffer.prio2buffer", core::MetricSet::full};
constexpr core::MetricDesc kDcbxInfo{
    "rdma_dcb_dcbx_info", core::MetricType::gauge, "device,port,netdev,mode", "",
    "DCBX mode flags that are set; always 1. host: software such as lldpad speaks DCBX; lld_managed: the "
    "adapter's firmware does; ieee, cee: protocol versions; static: nothing is negotiated",
    "rtnetlink DCB IEEE_GET DCB_ATTR_DCBX", core::MetricSet::full};

// clang-format on

namespace dcb = host::dcb;

constexpr std::array kFamilies{&kDcbPfcEnabled,
                               &kDcbPfcMaxTrafficClasses,
                               &kDcbPfcDelay,
                               &kDcbCableLength,
                               &kPfcFrames,
                               &kDcbEtsWilling,
                               &kDcbTrafficClasses,
                               &kDcbEtsBandwidth,
                               &kDcbTsa,
                               &kDcbPriorityTc,
                               &kDcbApp,
                               &kDcbTrust,
                               &kDcbBuffer,
                               &kDcbPortBuffer,
                               &kDcbPriorityBuffer,
                               &kDcbxInfo};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const core::MetricDesc* family) { return core::valid(*family); }));

constexpr std::chrono::seconds kInterval{30};

// The drivers that fill ieee_pfc.requests and indications; the others leave zeros (drivers/net/ethernet of
// 6.12). On mlx5 they are a copy that is refreshed only when somebody reads the driver statistics.
bool counts_pfc_frames(const std::string& driver) {
  return driver == "mlx5_core" || driver == "bnxt_en" || driver == "ice" || driver == "i40e";
}
bool is_mlx5(const std::string& driver) { return driver == "mlx5_core"; }

using Labels = std::array<std::string, dcb::kPriorities>;

Labels numbered(std::string_view name) {
  Labels labels;
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = core::render_labels({{name, std::to_string(i)}});
  return labels;
}

Labels numbered(std::string_view name, std::string_view direction) {
  Labels labels = numbered(name);
  for (std::string& label : labels) core::append_label(label, "direction", direction);
  return labels;
}

// Label blocks that all interfaces share.
struct CommonLabels {
  Labels priority = numbered("priority");
  Labels tc = numbered("tc");
  Labels buffer = numbered("buffer");
  Labels rx = numbered("priority", "rx");
  Labels tx = numbered("priority", "tx");
};
const CommonLabels& common() {
  static const CommonLabels labels;
  return labels;
}

// In the order of the bits of dcb::Ieee::dcbx.
constexpr std::array<std::string_view, 5> kDcbxModes{R"(mode="host")", R"(mode="lld_managed")",
                                                     R"(mode="cee")", R"(mode="ieee")", R"(mode="static")"};

std::string selector_text(std::uint8_t selector) {
  const std::string_view name = dcb::selector_name(selector);
  return name.empty() ? std::to_string(selector) : std::string(name);
}

std::string app_labels(const dcb::App& app) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string protocol = std::to_string(app.protocol);
  if (app.selector == dcb::kSelectorEthertype) {
    protocol = "0x";
    for (int shift = 12; shift >= 0; shift -= 4)
      protocol += kDigits[static_cast<unsigned>(app.protocol >> shift) & 0xfU];
  }
  return core::render_labels({{"selector", selector_text(app.selector)},
                              {"protocol", protocol},
                              {"priority", std::to_string(app.priority)}});
}

class DcbJob : public core::Job {
 public:
  DcbJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev)
      : Job("dcb", netdev->device, netdev->name),
        sysfs_(*context.host.sysfs),
        netdev_(netdev),
        netlink_(host::kept_netlink(context.host, host::NetlinkProtocol::route)),
        labels_(netdev_labels(*netdev)),
        lean_(!context.metrics.full()),
        serves_tsa_(context.metrics.has(kDcbTsa)),
        serves_buffers_(context.metrics.has(kDcbPortBuffer) || context.metrics.has(kDcbBuffer) ||
                        context.metrics.has(kDcbPriorityBuffer)),
        shared_(context.netdevs->of(netdev->id)),
        facts_(context.facts->of(*netdev)),
        serves_pfc_frames_(counts_pfc_frames(netdev->driver) && !context.runs("ethtool")),
        each_time_(serves_pfc_frames_ && !is_mlx5(netdev->driver)),
        schedule_(kInterval, netdev->name) {}

  void run(core::JobRun& run) override {
    if (operation_.worth_asking(run.now()) && (schedule_.take(run.now()) || each_time_)) ask(run);
    if (!ieee_) return;
    if (ieee_->pfc) add_pfc(*ieee_->pfc, run.samples());
    if (ieee_->ets) add_ets(*ieee_->ets, run.samples());
    add_apps(run.samples());
    if (ieee_->buffers) add_buffers(*ieee_->buffers, run.samples());
    if (ieee_->dcbx) add_dcbx(*ieee_->dcbx, run.samples());
  }

 private:
  void ask(core::JobRun& run) {
    // After a failure, what the one before it said is of no use.
    const bool anew = each_time_ || !ieee_;
    const facts::Wanted wanted{run.now(), anew ? std::chrono::seconds(0) : kInterval / 2};
    ieee_.reset();
    shared_->set_pfc({});
    const auto read = facts_->dcb(wanted, *netlink_);
    const auto& answer = *read;
    if (answer) {
      ieee_ = *answer;
      if (ieee_->pfc) shared_->set_pfc(ieee_->pfc->enabled);
      render();
      return operation_.answered(true, *netdev_, run.now());
    }
    schedule_.reset();
    operation_.failed(answer.error(), *netdev_, sysfs_, run);
  }

  // Renders the labels that depend on the answer.
  void render() {
    if (ieee_->apps != rendered_apps_) {
      rendered_apps_ = ieee_->apps;
      app_labels_.clear();
      for (const dcb::App& app : rendered_apps_) app_labels_.push_back(app_labels(app));
    }
    if (!ieee_->ets || rendered_tsa_ == ieee_->ets->tsa) return;
    rendered_tsa_ = ieee_->ets->tsa;
    for (std::size_t tc = 0; tc < dcb::kPriorities; ++tc) {
      tsa_labels_[tc] = common().tc[tc];
      core::append_label(tsa_labels_[tc], "tsa", dcb::tsa_name(ieee_->ets->tsa[tc]));
    }
  }

  void add_pfc(const dcb::Pfc& pfc, core::SampleBatch& out) const {
    out.add_stable(kDcbPfcMaxTrafficClasses, *labels_, std::uint64_t{pfc.capability});
    constexpr double kBitsPerByte = 8;
    if (is_mlx5(netdev_->driver))
      out.add_stable(kDcbCableLength, *labels_, std::uint64_t{pfc.delay});
    else
      out.add_stable(kDcbPfcDelay, *labels_, pfc.delay / kBitsPerByte);
    for (std::size_t priority = 0; priority < dcb::kPriorities; ++priority) {
      const bool enabled = ((pfc.enabled >> priority) & 1) != 0;
      out.add_stable(kDcbPfcEnabled, *labels_, std::uint64_t{enabled}, common().priority[priority]);
    }
    if (!serves_pfc_frames_) return;
    for (std::size_t priority = 0; priority < dcb::kPriorities; ++priority) {
      out.add_stable(kPfcFrames, *labels_, pfc.indications[priority], common().rx[priority]);
      out.add_stable(kPfcFrames, *labels_, pfc.requests[priority], common().tx[priority]);
    }
  }

  void add_ets(const dcb::Ets& ets, core::SampleBatch& out) const {
    out.add_stable(kDcbEtsWilling, *labels_, std::uint64_t{ets.willing});
    if (ets.traffic_classes > 0)
      out.add_stable(kDcbTrafficClasses, *labels_, std::uint64_t{ets.traffic_classes});
    // The arrays have eight entries; the adapter may have fewer classes.
    const std::size_t classes = ets.traffic_classes > 0
                                    ? std::min<std::size_t>(ets.traffic_classes, dcb::kPriorities)
                                    : dcb::kPriorities;
    for (std::size_t tc = 0; tc < classes; ++tc) {
      if (serves_tsa_) out.add_stable(kDcbTsa, *labels_, std::uint64_t{1}, tsa_labels_[tc]);
      if (ets.tsa[tc] == dcb::kTsaEts)
        out.add_stable(kDcbEtsBandwidth, *labels_, ets.bandwidth_percent[tc] / 100.0, common().tc[tc]);
    }
    const unsigned lossless = ieee_->pfc ? ieee_->pfc->enabled : 0U;
    for (std::size_t priority = 0; priority < dcb::kPriorities; ++priority)
      if (!lean_ || ((lossless >> priority) & 1U) != 0)
        out.add_stable(kDcbPriorityTc, *labels_, std::uint64_t{ets.priority_class[priority]},
                       common().priority[priority]);
  }

  void add_apps(core::SampleBatch& out) const {
    for (const std::string& app : app_labels_) out.add_stable(kDcbApp, *labels_, std::uint64_t{1}, app);
    // mlx5 (en_dcbnl.c), ice and hns3 trust DSCP while the APP table has at least one DSCP entry.
    const bool dscp = std::any_of(ieee_->apps.begin(), ieee_->apps.end(),
                                  [](const dcb::App& app) { return app.selector == dcb::kSelectorDscp; });
    out.add_stable(kDcbTrust, *labels_, std::uint64_t{1},
                   dscp ? R"(trust="dscp",inferred="true")" : R"(trust="pcp",inferred="true")");
  }

  void add_buffers(const dcb::Buffers& buffers, core::SampleBatch& out) const {
    if (!serves_buffers_) return;
    out.add_stable(kDcbPortBuffer, *labels_, std::uint64_t{buffers.total_bytes});
    for (std::size_t i = 0; i < dcb::kPriorities; ++i) {
      out.add_stable(kDcbBuffer, *labels_, std::uint64_t{buffers.bytes[i]}, common().buffer[i]);
      out.add_stable(kDcbPriorityBuffer, *labels_, std::uint64_t{buffers.priority_buffer[i]},
                     common().priority[i]);
    }
  }

  void add_dcbx(std::uint8_t mode, core::SampleBatch& out) const {
    for (std::size_t bit = 0; bit < kDcbxModes.size(); ++bit) {
      if (((mode >> bit) & 1) != 0) out.add_stable(kDcbxInfo, *labels_, std::uint64_t{1}, kDcbxModes[bit]);
    }
  }

  host::HostFs& sysfs_;
  const std::shared_ptr<const host::Netdev> netdev_;
  const std::unique_ptr<host::Netlink> netlink_;
  const core::SharedText labels_;
  const bool lean_;
  const bool serves_tsa_;
  const bool serves_buffers_;
  const std::shared_ptr<NetdevShared> shared_;
  const std::shared_ptr<facts::NetdevCache> facts_;
  const bool serves_pfc_frames_;  ///< false: the collector ethtool does, or nobody counts them
  const bool each_time_;
  task::Schedule schedule_;
  NetdevOperation operation_{"DCB"};
  std::optional<dcb::Ieee> ieee_;
  std::vector<dcb::App> rendered_apps_;
  std::vector<std::string> app_labels_;
  std::optional<dcb::PerClass<std::uint8_t>> rendered_tsa_;
  Labels tsa_labels_;
};

std::span<const core::MetricDesc* const> families() { return kFamilies; }

}  // namespace

extern const CollectorSpec dcb_spec;
const CollectorSpec dcb_spec{
    "dcb",
    "Network interface of each RDMA port: PFC, ETS, mapping of traffic to priorities, buffers",
    "DCB over rtnetlink ([DCB.md](DCB.md))",
    true,
    families,
    [](const Context& context) {
      // A tree of files has no netlink, which is the only source.
      return context.host.speaks(host::NetlinkProtocol::route) ? make_per_netdev<DcbJob>(context)
                                                               : std::make_unique<Collector>();
    }};

}  // namespace rdma_exporter::collectors
