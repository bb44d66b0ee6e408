// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/job.h"
#include "core/metric.h"
#include "host/fs/host_fs.h"

// RoCE congestion control (DCQCN) settings of mlx5, from where the driver in use shows them.
namespace rdma_exporter::collectors {

// clang-format off

inline constexpr core::MetricDesc kRoceEcnEnabled{
    "rdma_roce_ecn_enabled", core::MetricType::gauge, "netdev,role,priority", "",
    "1 if congestion control by ECN is on for the priority, else 0. role np: this host notifies senders of marked "
    "packets (CNP). role rp: this host slows down when it is notified. Vendor driver MLNX_OFED only",
    "sysfs ecn/roce_np/enable/N, ecn/roce_rp/enable/N of the interface"};
inline constexpr core::MetricDesc kRoceCnpDscp{
    "rdma_roce_cnp_dscp", core::MetricType::gauge, "netdev", "",
    "DSCP that the congestion notifications of this host carry; mlx5",
    "sysfs ecn/roce_np/cnp_dscp of the interface; debugfs mlx5/PCI/cc_params/np_cnp_dscp"};
inline constexpr core::MetricDesc kRoceCnpPriority{
    "rdma_roce_cnp_priority", core::MetricType::gauge, "netdev", "",
    "802.1p priority that the congestion notifications of this host carry; mlx5",
    "sysfs ecn/roce_np/cnp_802p_prio of the interface; debugfs mlx5/PCI/cc_params/np_cnp_prio"};
inline constexpr core::MetricDesc kRoceCcRate{
    "rdma_roce_cc_rate_bytes_per_second", core::MetricType::gauge, "netdev,parameter", "bytes per second",
    "Rates of congestion control (DCQCN) by the driver's parameter; 0 for rp_max_rate and "
    "rp_rate_to_set_on_first_cnp means the speed of the link; mlx5",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params; Mbit/s x 125000"};
inline constexpr core::MetricDesc kRoceCcTime{
    "rdma_roce_cc_time_seconds", core::MetricType::gauge, "netdev,parameter", "seconds",
    "Times of congestion control (DCQCN) by the driver's parameter; mlx5",
    "sysfs ecn/roce_rp, roce_np of the interface; debugfs mlx5/PCI/cc_params; microseconds / 1e6"};
inline constexpr core::MetricDesc kRoceCcRatio{
    "rdma_roce_cc_ratio", core::MetricType::gauge, "netdev,parameter", "ratio",
    "Ratios of congestion control (DCQCN) by the driver's parameter; mlx5",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params; percent / 100, fixed point / 1024"};
inline constexpr core::MetricDesc kRoceCcValue{
    "rdma_roce_cc_value", core::MetricType::gauge, "netdev,parameter", "",
    "Switches and other values of congestion control (DCQCN) by the driver's parameter, in the driver's unit; mlx5",
    "sysfs ecn/roce_rp of the interface; debugfs mlx5/PCI/cc_params"};
inline constexpr core::MetricDesc kRoceCcReadable{
    "rdma_roce_cc_parameters_readable", core::MetricType::gauge, "netdev", "",
    "1 if the congestion control parameters of an mlx5 interface can be read, 0 if that takes privileges that the "
    "exporter has not (debugfs is for root). Absent where the driver shows none",
    "sysfs ecn of the interface; debugfs mlx5/PCI/cc_params"};

// clang-format on

/// All families above, in the order of the page.
std::span<const core::MetricDesc* const> congestion_families();

/// The settings of one interface. MLNX_OFED shows them in sysfs to everybody, the driver of Linux in debugfs
/// to root. Every read is a firmware command.
class CongestionParameters {
 public:
  CongestionParameters(host::HostFs& sysfs, std::string netdev_path, std::string labels);

  /// Reads all of them anew. True when they exist and may not be read.
  bool refresh(core::JobRun& run);
  /// Adds what was read.
  void add(core::SampleBatch& out) const;

 private:
  struct Fact {
    const core::MetricDesc* metric;
    std::string labels;
    double value;
  };
  void read_enable_bits(core::JobRun& run);
  bool read_debugfs(core::JobRun& run);
  bool read_fact(const std::string& path, const core::MetricDesc& metric, std::string labels, double scale,
                 core::JobRun& run);

  host::HostFs& sysfs_;
  const std::string path_;
  const std::string labels_;
  std::vector<Fact> facts_;
};

}  // namespace rdma_exporter::collectors
