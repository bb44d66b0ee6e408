// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/families.h"

#include <string_view>

namespace rdma_exporter::collectors {
namespace {

using core::MetricDesc;
using core::MetricSet;
using core::MetricType;

constexpr std::string_view kBytesSource =
    "ports/N/counters; hw_counters by STAT_GET for drivers that count bytes there";
constexpr std::string_view kHwSource = "RDMA netlink STAT_GET";
constexpr std::string_view kPauseSource = "ETHTOOL_GSTATS";
constexpr std::string_view kSelf = "collectors/burst/burst.cpp";
constexpr std::string_view kSourceLabels = "device,port,netdev,source";

}  // namespace

extern constexpr MetricDesc kBurstUtilization{
    "rdma_burst_utilization_ratio",
    MetricType::histogram,
    "device,port,direction",
    "ratio",
    "Fraction of the port's rate carried in each window of rdma_burst_window_seconds. Link headers are not "
    "included, so a full link shows 0.95 to 0.98. Windows of 100 ms reveal phases of collectives, incast and "
    "short storms, but not microsecond bursts, which show as ECN marks, CNPs and pause",
    kBytesSource};
extern constexpr MetricDesc kBurstMaxUtilization{"rdma_burst_max_utilization_ratio",
                                                 MetricType::gauge,
                                                 "device,port,direction",
                                                 "ratio",
                                                 "Fraction of the port's rate carried in the busiest window "
                                                 "of the last 60 seconds. Absent if no window could be used",
                                                 kBytesSource};
extern constexpr MetricDesc kBurstLength{"rdma_burst_length_seconds",
                                         MetricType::histogram,
                                         "device,port,direction",
                                         "seconds",
                                         "Duration of bursts in seconds: runs of windows above half of the "
                                         "port's rate. Bursts shorter than one window are not seen",
                                         kBytesSource,
                                         MetricSet::full};
extern constexpr MetricDesc kBurstEcnMarked{
    "rdma_burst_ecn_marked_packets",
    MetricType::histogram,
    "device,port",
    "packets",
    "Packets received in each window with the ECN mark of a congested switch",
    kHwSource};
extern constexpr MetricDesc kBurstCnp{"rdma_burst_cnp_packets",
                                      MetricType::histogram,
                                      "device,port,direction",
                                      "packets",
                                      "Congestion notification packets (CNPs) received (rx) or sent (tx) in "
                                      "each window. rx: this host was told to slow down",
                                      kHwSource};
extern constexpr MetricDesc kBurstReceiveBufferMissing{
    "rdma_burst_receive_buffer_missing_packets",
    MetricType::histogram,
    "device,port",
    "packets",
    "Packets in each window for which the application had posted no receive buffer",
    kHwSource};
extern constexpr MetricDesc kBurstPfcPaused{
    "rdma_burst_pfc_paused_ratio",
    MetricType::histogram,
    "device,port,netdev,priority,direction",
    "ratio",
    "Fraction of each window during which a priority was paused by flow control. rx: this host was told to "
    "stop. With pause=auto the counters are read once a second while the fraction is below 1 %; such a read "
    "counts as that many windows with the mean value",
    kPauseSource};
extern constexpr MetricDesc kBurstMaxPfcPaused{
    "rdma_burst_max_pfc_paused_ratio",
    MetricType::gauge,
    "device,port,netdev,priority,direction",
    "ratio",
    "Highest fraction of a window in the last 60 seconds during which the priority was paused",
    kPauseSource};
extern constexpr MetricDesc kBurstUp{
    "rdma_burst_up",
    MetricType::gauge,
    kSourceLabels,
    "",
    "Whether this source can be read: 0 while a read hangs in the kernel, which means that it is later than "
    "10 windows and than one second, else 1. source is counters, hw_counters or ethtool; netdev is set for "
    "ethtool only",
    kSelf};
extern constexpr MetricDesc kBurstWindow{
    "rdma_burst_window_seconds",
    MetricType::gauge,
    kSourceLabels,
    "seconds",
    "Length of the window in use, in seconds. Longer than collector.burst.window if reads cost too much or "
    "the driver refreshes its counters less often",
    kSelf};
extern constexpr MetricDesc kBurstRefresh{
    "rdma_burst_refresh_seconds",
    MetricType::gauge,
    kSourceLabels,
    "seconds",
    "Time in seconds between two refreshes of the driver's counters. Absent unless longer than a window",
    kSelf};
extern constexpr MetricDesc kBurstWindows{
    "rdma_burst_windows_total",
    MetricType::counter,
    "device,port,netdev,source,result",
    "windows",
    "Windows by result: used; reset (a counter was reset or the rate changed); implausible (more than the "
    "line can carry); late (read too slowly or not in time); error (the read failed). Only used windows "
    "enter the histograms",
    kSelf};
extern constexpr MetricDesc kBurstRead{"rdma_burst_read_seconds",
                                       MetricType::histogram,
                                       kSourceLabels,
                                       "seconds",
                                       "Duration of reads of the source, in seconds",
                                       kSelf,
                                       MetricSet::full};

namespace {
constexpr const MetricDesc* kFamilies[] = {&kBurstUtilization, &kBurstMaxUtilization,
                                           &kBurstLength,      &kBurstEcnMarked,
                                           &kBurstCnp,         &kBurstReceiveBufferMissing,
                                           &kBurstPfcPaused,   &kBurstMaxPfcPaused,
                                           &kBurstUp,          &kBurstWindow,
                                           &kBurstRefresh,     &kBurstWindows,
                                           &kBurstRead};

constexpr bool all_are_valid() {
  for (const MetricDesc* family : kFamilies)
    if (!core::valid(*family)) return false;
  return true;
}
static_assert(all_are_valid());
}  // namespace

std::span<const MetricDesc* const> burst_families() { return kFamilies; }

}  // namespace rdma_exporter::collectors
