// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/intern.h"
#include "core/job.h"
#include "core/metric.h"
#include "facts/fact_cache.h"
#include "host/fs/host_fs.h"

// Settings of RoCE congestion control (DCQCN) on mlx5, read from wherever the driver in use exposes them.
namespace rdma_exporter::collectors {

// clang-format off

inline constexpr core::MetricDesc kRoceEcnEnabled{
    "rdma_priority_ecn_enabled", core::MetricType::gauge, "device,port,netdev,role,priority", "",
    "Whether ECN-based congestion control is enabled for the priority: 1 if so, else 0. role=\"np\": this "
    "host notifies senders of marked packets (CNP). role=\"rp\": this host slows down when notified. "
    "MLNX_OFED drivers only",
    "sysfs ecn/roce_np/enable/N, ecn/roce_rp/enable/N of the interface"};
inline constexpr core::MetricDesc kRoceCnpDscp{
    "rdma_netdev_roce_cnp_dscp", core::MetricType::gauge, "device,port,netdev", "",
    "DSCP of the congestion notification packets (CNPs) that this host sends. mlx5 only",
    "sysfs ecn/roce_np/cnp_dscp of the interface; debugfs mlx5/PCI/cc_params/np_cnp_dscp"};
inline constexpr core::MetricDesc kRoceCnpPriority{
    "rdma_netdev_roce_cnp_priority", core::MetricType::gauge, "device,port,netdev", "",
    "802.1p priority of the congestion notification packets (CNPs) that this host sends. mlx5 only",
    "sysfs ecn/roce_np/cnp_802p_prio of the interface; debugfs mlx5/PCI/cc_params/np_cnp_prio"};
inline constexpr core::MetricDesc kRoceCcRate{
    "rdma_netdev_roce_cc_rate_bytes_per_second", core::MetricType::gauge, "device,port,netdev,parameter", "bytes per second",
    "Rate parameters of congestion control (DCQCN) under the driver's names, in bytes per second. 0 for "
    "rp_max_rate and rp_rate_to_set_on_first_cnp means the link speed. mlx5 only",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params; Mbit/s x 125000"};
inline constexpr core::MetricDesc kRoceCcTime{
    "rdma_netdev_roce_cc_time_seconds", core::MetricType::gauge, "device,port,netdev,parameter", "seconds",
    "Time parameters of congestion control (DCQCN) under the driver's names, in seconds. mlx5 only",
    "sysfs ecn/roce_rp, roce_np of the interface; debugfs mlx5/PCI/cc_params; microseconds / 1e6"};
inline constexpr core::MetricDesc kRoceCcRatio{
    "rdma_netdev_roce_cc_ratio", core::MetricType::gauge, "device,port,netdev,parameter", "ratio",
    "Ratio parameters of congestion control (DCQCN) under the driver's names. mlx5 only",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params; percent / 100, fixed point / 1024"};
inline constexpr core::MetricDesc kRoceCcValue{
    "rdma_netdev_roce_cc_value", core::MetricType::gauge, "device,port,netdev,parameter", "",
    "Switches and other parameters of congestion control (DCQCN) under the driver's names, in the driver's "
    "units. mlx5 only",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params"};
inline constexpr core::MetricDesc kRoceCcReadable{
    "rdma_netdev_roce_cc_parameters_readable", core::MetricType::gauge, "device,port,netdev", "",
    "Whether the exporter can read the congestion control parameters of an mlx5 interface: 1 if so, 0 if it "
    "lacks the privileges (debugfs is for root). Absent if the driver exposes none",
    "sysfs ecn of the interface; debugfs mlx5/PCI/cc_params"};

// clang-format on

/// All families above, in the order of the page.
std::span<const core::MetricDesc* const> congestion_families();

/// The settings of one interface. MLNX_OFED exposes them in sysfs to everybody, the upstream driver in
/// debugfs to root. Each read is a firmware command.
class CongestionParameters {
 public:
  CongestionParameters(host::HostFs& sysfs, std::string netdev_path,
                       std::shared_ptr<facts::NetdevCache> facts, core::SharedText labels);

  /// Reads all settings that are older than wanted. True if they exist but reading them is forbidden.
  bool refresh(const facts::Wanted& wanted, core::JobRun& run);
  /// Adds the settings that were read.
  void add(core::SampleBatch& out) const;

 private:
  struct Setting {
    const core::MetricDesc* metric;
    std::string labels;
    double value;
  };
  void read_enable_bits(const facts::Wanted& wanted, core::JobRun& run);
  bool read_debugfs(core::JobRun& run);
  bool take(const core::Result<std::string>& text, const core::MetricDesc& metric, std::string labels,
            double scale, core::JobRun& run);

  host::HostFs& sysfs_;
  const std::string path_;
  const std::shared_ptr<facts::NetdevCache> facts_;
  const core::SharedText labels_;
  std::vector<Setting> settings_;
};

}  // namespace rdma_exporter::collectors
