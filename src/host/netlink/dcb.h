// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Data center bridging over rtnetlink (include/uapi/linux/dcbnl.h, net/dcb/dcbnl.c, IEEE 802.1Qaz). Pure
// functions from and to bytes; a payload begins with struct dcbmsg.
namespace rdma_exporter::host::dcb {

/// Priorities 0 to 7; as many traffic classes and buffers.
inline constexpr std::size_t kPriorities = 8;
template <typename T>
using PerPriority = std::array<T, kPriorities>;
template <typename T>
using PerClass = std::array<T, kPriorities>;

/// nlmsg_type of the request below.
extern const std::uint16_t kGet;
/// Requests everything that IEEE 802.1Qaz defines for one interface. The kernel finds the interface by its
/// name at that moment. Needs no privilege, takes the RTNL lock. EOPNOTSUPP: a driver without DCB.
std::vector<std::byte> ieee_request(std::string_view netdev);

/// Priority flow control.
struct Pfc {
  std::uint8_t capability = 0;  ///< traffic classes that can be lossless at the same time
  std::uint8_t enabled = 0;     ///< bit N: priority N is lossless
  std::uint16_t delay = 0;      ///< bit times; mlx5: metres of cable (en_dcbnl.c)
  /// PFC frames that this host sent ("requests": it asked its peer to stop) and received ("indications": its
  /// peer asked it to stop). Zeros where the driver does not fill them.
  PerPriority<std::uint64_t> requests{};
  PerPriority<std::uint64_t> indications{};
};

/// Transmission selection algorithm of a traffic class.
inline constexpr std::uint8_t kTsaEts = 2;
/// "strict", "credit_based", "ets", "vendor", or "reserved".
std::string_view tsa_name(std::uint8_t tsa);

/// Enhanced transmission selection.
struct Ets {
  bool willing = false;                        ///< takes what the peer's DCBX offers
  std::uint8_t traffic_classes = 0;            ///< that the device supports; 0: not told
  PerClass<std::uint8_t> bandwidth_percent{};  ///< of transmission; of ETS classes only
  PerClass<std::uint8_t> tsa{};
  PerPriority<std::uint8_t> priority_class{};
};

/// An entry of the APP table: traffic of a protocol goes to a priority.
struct App {
  std::uint8_t selector = 0;  ///< what `protocol` is
  std::uint8_t priority = 0;
  std::uint16_t protocol = 0;
  auto operator<=>(const App&) const = default;
};
inline constexpr std::uint8_t kSelectorEthertype = 1;
inline constexpr std::uint8_t kSelectorDscp = 5;
/// "ethertype", "tcp", "udp", "any", "dscp", "pcp"; empty for one without a name.
std::string_view selector_name(std::uint8_t selector);

/// Receive buffers of the port.
struct Buffers {
  PerPriority<std::uint8_t> priority_buffer{};
  std::array<std::uint32_t, kPriorities> bytes{};
  std::uint32_t total_bytes = 0;
};

/// Answer to ieee_request(). What the driver does not offer is nullopt.
struct Ieee {
  std::optional<Pfc> pfc;
  std::optional<Ets> ets;
  std::optional<Buffers> buffers;
  std::vector<App> apps;             ///< sorted, each once
  std::optional<std::uint8_t> dcbx;  ///< bits from 0: host, LLD managed, CEE, IEEE, static
};
core::Result<Ieee> parse_ieee(Bytes payload);

}  // namespace rdma_exporter::host::dcb
