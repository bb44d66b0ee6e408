// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector neighbor: the switch port at the other end of each wire, from the LLDP frames that it sends. Off
// by default, because the packet socket, which only listens, needs CAP_NET_RAW. Nothing is seen if the
// adapter's firmware or Open vSwitch consumes the frames (docs/LINK.md).
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "collectors/collector.h"
#include "collectors/link/neighbor_table.h"
#include "core/labels.h"
#include "core/seconds.h"
#include "core/text/kernel_text.h"
#include "host/lldp/lldp_frames.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr std::string_view kSource = "LLDP (IEEE 802.1AB) frames; AF_PACKET";

constexpr MetricDesc kNeighborInfo{
    "rdma_netdev_neighbor_info",
    MetricType::gauge,
    "device,port,netdev,chassis_id,port_id,port_description,system_name,management_address",
    "",
    "Switch and port at the other end of the link, as the neighbour announces itself over LLDP; always 1. "
    "Removed when its time to live expires. LLDP is not authenticated",
    kSource};
constexpr MetricDesc kNeighborAge{
    "rdma_netdev_neighbor_age_seconds",
    MetricType::gauge,
    "device,port,netdev,chassis_id,port_id",
    "seconds",
    "Time in seconds since the last LLDP frame from the neighbour. Most neighbours send one every 30 s",
    kSource};
constexpr MetricDesc kNeighbors{"rdma_netdev_neighbors",
                                MetricType::gauge,
                                "device,port,netdev",
                                "neighbors",
                                "Number of known LLDP neighbours, at most 32. 0 means that the exporter is "
                                "listening and has heard nobody",
                                kSource};
constexpr MetricDesc kFrames{"rdma_netdev_neighbor_frames_total",
                             MetricType::counter,
                             "device,port,netdev,result",
                             "frames",
                             "LLDP frames received, by result: ok or malformed",
                             kSource};

constexpr std::array kFamilies{&kNeighborInfo, &kNeighborAge, &kNeighbors, &kFrames};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* family) { return core::valid(*family); }));

class NeighborJob : public core::Job {
 public:
  NeighborJob(const Context& context, const std::shared_ptr<const host::Netdev>& netdev,
              std::shared_ptr<NeighborTable> table)
      : Job("neighbor", netdev->device, netdev->name),
        sysfs_(*context.host.sysfs),
        index_file_(netdev->path + "/ifindex"),
        labels_(core::shared_labels(
            {{"device", netdev->device}, {"port", std::to_string(netdev->port)}, {"netdev", netdev->name}})),
        table_(std::move(table)) {}
  ~NeighborJob() override {
    if (interface_ != 0) table_->forget(interface_);
  }
  NeighborJob(const NeighborJob&) = delete;
  NeighborJob& operator=(const NeighborJob&) = delete;

  void run(core::JobRun& run) override {
    if (interface_ == 0 && !find_interface(run)) return;
    const auto neighbors = table_->look(interface_, run.now());
    if (neighbors) return add(*neighbors, run);
    // EPERM: no permission; EAFNOSUPPORT: an address family filter; rdma_exporter_missing_privilege reports
    // both. ENODEV: the interface has disappeared.
    const core::Error& error = neighbors.error();
    for (const int ordinary : {EPERM, EAFNOSUPPORT, ENODEV})
      if (core::is_errno(error, ordinary)) return;
    run.count_read_error(core::reason(error));
  }

 private:
  bool find_interface(core::JobRun& run) {
    const auto text = sysfs_.read(index_file_);
    if (!text) return false;  // the interface has disappeared
    const auto number = core::parse_integer(*text);
    if (number) interface_ = static_cast<std::uint32_t>(*number);
    if (!number) run.count_read_error(core::reason(number.error()));
    return interface_ != 0;
  }

  void add(const host::LldpNeighbors& neighbors, core::JobRun& run) {
    core::SampleBatch& out = run.samples();
    for (const host::LldpNeighbors::Known& known : neighbors.all()) {
      std::string labels = *labels_;
      core::append_label(labels, "chassis_id", known.neighbor.chassis_id);
      core::append_label(labels, "port_id", known.neighbor.port_id);
      out.add(kNeighborAge, labels, core::seconds(run.now() - known.heard));
      core::append_label(labels, "port_description", known.neighbor.port_description);
      core::append_label(labels, "system_name", known.neighbor.system_name);
      core::append_label(labels, "management_address", known.neighbor.management_address);
      out.add(kNeighborInfo, labels, std::uint64_t{1});
    }
    out.add_stable(kNeighbors, *labels_, std::uint64_t{neighbors.all().size()});
    if (neighbors.evicted() > evicted_) run.count_dropped("neighbors", neighbors.evicted() - evicted_);
    evicted_ = neighbors.evicted();
    out.mark_since_start();
    out.add_stable(kFrames, *labels_, neighbors.frames() - neighbors.malformed(), R"(result="ok")");
    out.add_stable(kFrames, *labels_, neighbors.malformed(), R"(result="malformed")");
  }

  host::HostFs& sysfs_;
  const std::string index_file_;
  const core::SharedText labels_;
  const std::shared_ptr<NeighborTable> table_;
  std::uint32_t interface_ = 0;
  std::uint64_t evicted_ = 0;
};

class NeighborCollector : public Collector {
 public:
  explicit NeighborCollector(const Context& context) : context_(context) {
    if (context.host.open_lldp_frames) table_ = std::make_shared<NeighborTable>(context.host);
  }

  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    // A bond receives frames through its members.
    if (!table_ || netdev->role == host::NetdevRole::bond) return nullptr;
    return std::make_shared<NeighborJob>(context_, netdev, table_);
  }

 private:
  const Context& context_;
  std::shared_ptr<NeighborTable> table_;
};

}  // namespace

extern const CollectorSpec neighbor_spec;
const CollectorSpec neighbor_spec{"neighbor",
                                  "Switch and port at the other end of each RDMA port, by LLDP (CAP_NET_RAW)",
                                  "LLDP frames ([LINK.md](LINK.md))",
                                  false,
                                  [] { return std::span<const core::MetricDesc* const>(kFamilies); },
                                  [](const Context& context) -> std::unique_ptr<Collector> {
                                    return std::make_unique<NeighborCollector>(context);
                                  }};

}  // namespace rdma_exporter::collectors
