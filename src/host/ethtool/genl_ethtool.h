// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Requests and answers of ethtool's generic netlink family (include/uapi/linux/ethtool_netlink.h,
// Documentation/networking/ethtool-netlink.rst). Pure functions from and to bytes; a payload begins with
// struct genlmsghdr. The kernel leaves out what the driver did not fill, so does a parser: nullopt, or a
// counter that is not reported. None of these requests needs a privilege.
namespace rdma_exporter::host::genl_ethtool {

/// For generic_netlink::find_family(). Kernels before 5.6 do not have the family.
inline constexpr std::string_view kFamily = "ethtool";

/// What can be asked of a network interface. Each request takes the kernel's RTNL lock once.
enum class Query : std::uint8_t {
  statistics,  ///< the groups eth-phy, eth-mac, eth-ctrl and rmon; Linux 5.13
  pause,       ///< link-wide pause (802.3 annex 31B), not PFC; 5.10
  fec,         ///< forward error correction; 5.13
  link_state,  ///< 5.6; the count of link losses 6.4
  link_modes,  ///< speed; 5.6
  rings,       ///< 5.6
  module,      ///< power mode of the transceiver; 5.16
};

/// `with_counters`: ask for the counters that belong to pause, fec and link_state too. A kernel that has none
/// for a query refuses the request as a whole with EINVAL.
std::vector<std::byte> request(Query query, std::string_view netdev, bool with_counters = true);

/// Groups of statistics, one bit each. The driver reads each of them from the adapter.
using Groups = std::uint32_t;
/// The same for some groups of statistics; request() asks for all of them.
std::vector<std::byte> statistics_request(std::string_view netdev, Groups groups);
/// If this is a request for statistics, the request for all groups of the same interface. A recording has
/// the answer to that one.
std::optional<std::vector<std::byte>> with_all_groups(Bytes request);

/// All counters that the answers can contain: first the kernel's names of the standard statistics (IEEE 802.3
/// clause 30, RMON MIB; net/ethtool/stats.c), then the kernel's field names of the others.
inline constexpr auto kCounterNames = std::to_array<std::string_view>({"SymbolErrorDuringCarrier",
                                                                       "FramesTransmittedOK",
                                                                       "SingleCollisionFrames",
                                                                       "MultipleCollisionFrames",
                                                                       "FramesReceivedOK",
                                                                       "FrameCheckSequenceErrors",
                                                                       "AlignmentErrors",
                                                                       "OctetsTransmittedOK",
                                                                       "FramesWithDeferredXmissions",
                                                                       "LateCollisions",
                                                                       "FramesAbortedDueToXSColls",
                                                                       "FramesLostDueToIntMACXmitError",
                                                                       "CarrierSenseErrors",
                                                                       "OctetsReceivedOK",
                                                                       "FramesLostDueToIntMACRcvError",
                                                                       "MulticastFramesXmittedOK",
                                                                       "BroadcastFramesXmittedOK",
                                                                       "FramesWithExcessiveDeferral",
                                                                       "MulticastFramesReceivedOK",
                                                                       "BroadcastFramesReceivedOK",
                                                                       "InRangeLengthErrors",
                                                                       "OutOfRangeLengthField",
                                                                       "FrameTooLongErrors",
                                                                       "MACControlFramesTransmitted",
                                                                       "MACControlFramesReceived",
                                                                       "UnsupportedOpcodesReceived",
                                                                       "etherStatsUndersizePkts",
                                                                       "etherStatsOversizePkts",
                                                                       "etherStatsFragments",
                                                                       "etherStatsJabbers",
                                                                       "tx_pause_frames",
                                                                       "rx_pause_frames",
                                                                       "corrected_blocks",
                                                                       "uncorrectable_blocks",
                                                                       "corrected_bits",
                                                                       "link_down_events"});
/// The group that counter `counter` belongs to; 0 if it is not one of the statistics.
Groups group_of(std::size_t counter);
/// `counter` is an index of kCounterNames.
using OnCounter = std::function<void(std::size_t counter, std::uint64_t value)>;

/// Answer to statistics. Counters that a newer kernel may add are skipped, as are the histograms of frame
/// sizes.
core::Result<void> parse_statistics(Bytes payload, const OnCounter& on_counter);

/// Answer to pause: whether received frames are obeyed, and whether frames may be sent.
struct Pause {
  std::optional<bool> rx;
  std::optional<bool> tx;
  bool operator==(const Pause&) const = default;
};
core::Result<Pause> parse_pause(Bytes payload, const OnCounter& on_counter);

/// Answer to fec. The totals are counters; where the driver counts lanes, so are these.
struct Fec {
  std::string_view active;                          ///< "off", "rs", "baser", "llrs"; empty if not known
  std::vector<std::uint64_t> corrected_blocks;      ///< by lane
  std::vector<std::uint64_t> uncorrectable_blocks;  ///< by lane
  std::vector<std::uint64_t> corrected_bits;        ///< by lane
  static constexpr std::size_t kMaxLanes = 32;      ///< more are an error; the kernel's limit is 8
};
core::Result<Fec> parse_fec(Bytes payload, const OnCounter& on_counter);

/// Answer to link_state.
struct LinkState {
  std::optional<bool> up;
  /// Why an interface that is administratively up has no link, in words from the header's constants
  /// ("no_cable"); "other" for an unknown reason. Empty if there is none.
  std::string_view extended_state;
  std::string_view extended_substate;
};
core::Result<LinkState> parse_link_state(Bytes payload, const OnCounter& on_counter);

/// Answer to link_modes: the speed in bytes per second, nullopt while unknown (no link).
core::Result<std::optional<double>> parse_speed(Bytes payload);
/// The same answer: lanes of the link, where the driver tells them; 5.13.
std::optional<std::uint32_t> parse_lanes(Bytes payload);

/// Answer to rings: descriptors of each ring, now and at most.
struct Rings {
  std::optional<std::uint32_t> rx;
  std::optional<std::uint32_t> rx_max;
  std::optional<std::uint32_t> tx;
  std::optional<std::uint32_t> tx_max;
};
core::Result<Rings> parse_rings(Bytes payload);

/// Answer to module: true for high power mode, false for low, nullopt without a module that has modes.
core::Result<std::optional<bool>> parse_module_high_power(Bytes payload);

}  // namespace rdma_exporter::host::genl_ethtool
