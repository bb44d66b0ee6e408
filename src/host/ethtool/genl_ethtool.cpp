// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/genl_ethtool.h"

#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "host/ethtool/ethernet_link.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::genl_ethtool {
namespace {

using generic_netlink::attributes;
using generic_netlink::message;

// Not in the headers of Linux 6.1.
constexpr std::uint16_t kLinkStateDownCount = 7;  // ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT

struct Operation {
  Query query;
  std::uint8_t command;
  std::uint8_t reply;
  std::uint16_t header;  // type of the attribute that names the interface
  bool has_counters;     // those that a flag asks for
};
constexpr std::array kOperations{
    Operation{Query::statistics, ETHTOOL_MSG_STATS_GET, ETHTOOL_MSG_STATS_GET_REPLY, ETHTOOL_A_STATS_HEADER,
              false},
    Operation{Query::pause, ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_HEADER, true},
    Operation{Query::fec, ETHTOOL_MSG_FEC_GET, ETHTOOL_MSG_FEC_GET_REPLY, ETHTOOL_A_FEC_HEADER, true},
    Operation{Query::link_state, ETHTOOL_MSG_LINKSTATE_GET, ETHTOOL_MSG_LINKSTATE_GET_REPLY,
              ETHTOOL_A_LINKSTATE_HEADER, true},
    Operation{Query::link_modes, ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_MSG_LINKMODES_GET_REPLY,
              ETHTOOL_A_LINKMODES_HEADER, false},
    Operation{Query::rings, ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_GET_REPLY, ETHTOOL_A_RINGS_HEADER,
              false},
    Operation{Query::module, ETHTOOL_MSG_MODULE_GET, ETHTOOL_MSG_MODULE_GET_REPLY, ETHTOOL_A_MODULE_HEADER,
              false},
};

constexpr const Operation& operation(Query query) { return kOperations[static_cast<std::size_t>(query)]; }
static_assert(std::all_of(kOperations.begin(), kOperations.end(),
                          [](const Operation& o) { return operation(o.query).command == o.command; }));

constexpr std::size_t counter_index(std::string_view name) {
  const auto at = std::find(kCounterNames.begin(), kCounterNames.end(), name);
  return static_cast<std::size_t>(at - kCounterNames.begin());
}

// The groups of statistics are consecutive in kCounterNames, each in the order of its attribute types.
struct Group {
  std::uint32_t id;
  std::size_t first;  // index of the group's first counter
  std::uint16_t size;
};
constexpr std::array kGroups{
    Group{ETHTOOL_STATS_ETH_PHY, counter_index("SymbolErrorDuringCarrier"), __ETHTOOL_A_STATS_ETH_PHY_CNT},
    Group{ETHTOOL_STATS_ETH_MAC, counter_index("FramesTransmittedOK"), __ETHTOOL_A_STATS_ETH_MAC_CNT},
    Group{ETHTOOL_STATS_ETH_CTRL, counter_index("MACControlFramesTransmitted"),
          __ETHTOOL_A_STATS_ETH_CTRL_CNT},
    Group{ETHTOOL_STATS_RMON, counter_index("etherStatsUndersizePkts"), __ETHTOOL_A_STATS_RMON_CNT},
};
constexpr Groups bit(const Group& group) { return Groups{1} << group.id; }
constexpr Groups kAllGroups = (Groups{1} << kGroups.size()) - 1;
static_assert(std::all_of(kGroups.begin(), kGroups.end(),
                          [](const Group& g) { return bit(g) <= kAllGroups; }));

constexpr std::size_t kTxPause = counter_index("tx_pause_frames");
constexpr std::size_t kRxPause = counter_index("rx_pause_frames");
constexpr std::size_t kCorrectedBlocks = counter_index("corrected_blocks");
constexpr std::size_t kUncorrectableBlocks = counter_index("uncorrectable_blocks");
constexpr std::size_t kCorrectedBits = counter_index("corrected_bits");
constexpr std::size_t kLinkDownEvents = counter_index("link_down_events");

template <typename OnAttr>
bool for_each_attr_of(Query query, Bytes payload, OnAttr&& on_attr) {
  const auto bytes = attributes(payload, operation(query).reply);
  return bytes && for_each_attr(*bytes, on_attr);
}

std::optional<bool> flag(const Attr& attr) {
  const auto value = attr.number<std::uint8_t>();
  return value ? std::optional(*value != 0) : std::nullopt;
}

core::Result<void> parsed(bool whole) {
  if (!whole) return core::parse_error();
  return {};
}

bool parse_statistic(const Group& group, Bytes nest, const OnCounter& on_counter) {
  return for_each_attr(nest, [&](const Attr& statistic) {
    const auto value = statistic.number<std::uint64_t>();
    if (value && statistic.type < group.size) on_counter(group.first + statistic.type, *value);
  });
}

bool parse_group(Bytes bytes, const OnCounter& on_counter) {
  const Group* group = nullptr;
  bool nests_whole = true;
  // The kernel puts the group's number in front of its statistics.
  const bool whole = for_each_attr(bytes, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_STATS_GRP_ID) {
      const auto id = attr.number<std::uint32_t>();
      const auto known =
          std::find_if(kGroups.begin(), kGroups.end(), [&](const Group& g) { return id && g.id == *id; });
      group = known == kGroups.end() ? nullptr : &*known;
    }
    if (attr.type == ETHTOOL_A_STATS_GRP_STAT && group != nullptr)
      nests_whole = parse_statistic(*group, attr.data, on_counter) && nests_whole;
  });
  return whole && nests_whole;
}

// A binary array of u64: the total, then the lanes. Empty where the driver does not count.
bool parse_lanes(Bytes array, std::size_t counter, const OnCounter& on_counter,
                 std::vector<std::uint64_t>& lanes) {
  if (array.size() % sizeof(std::uint64_t) != 0) return false;
  const std::size_t numbers = array.size() / sizeof(std::uint64_t);
  if (numbers > 1 + Fec::kMaxLanes) return false;
  if (numbers == 0) return true;
  std::uint64_t total = 0;
  std::memcpy(&total, array.data(), sizeof total);
  on_counter(counter, total);
  lanes.resize(numbers - 1);
  if (!lanes.empty()) std::memcpy(lanes.data(), array.data() + sizeof total, array.size() - sizeof total);
  return true;
}

bool parse_fec_counters(Bytes nest, const OnCounter& on_counter, Fec& fec) {
  bool lanes_whole = true;
  const bool whole = for_each_attr(nest, [&](const Attr& attr) {
    const auto lanes = [&](std::size_t counter, std::vector<std::uint64_t>& values) {
      lanes_whole = parse_lanes(attr.data, counter, on_counter, values) && lanes_whole;
    };
    if (attr.type == ETHTOOL_A_FEC_STAT_CORRECTED) lanes(kCorrectedBlocks, fec.corrected_blocks);
    if (attr.type == ETHTOOL_A_FEC_STAT_UNCORR) lanes(kUncorrectableBlocks, fec.uncorrectable_blocks);
    if (attr.type == ETHTOOL_A_FEC_STAT_CORR_BITS) lanes(kCorrectedBits, fec.corrected_bits);
  });
  return whole && lanes_whole;
}

std::string_view fec_mode(std::uint32_t link_mode_bit) {
  switch (link_mode_bit) {
    case ETHTOOL_LINK_MODE_FEC_NONE_BIT:
      return "off";
    case ETHTOOL_LINK_MODE_FEC_RS_BIT:
      return "rs";
    case ETHTOOL_LINK_MODE_FEC_BASER_BIT:
      return "baser";
    case ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
      return "llrs";
    default:
      return {};
  }
}

std::vector<std::byte> request_about(Query query, std::string_view netdev, std::uint32_t flags) {
  std::vector<std::byte> header;
  append_text(header, ETHTOOL_A_HEADER_DEV_NAME, netdev);
  append_number(header, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS | flags);
  std::vector<std::byte> payload = message(operation(query).command, ETHTOOL_GENL_VERSION);
  append_attr(payload, operation(query).header | NLA_F_NESTED, header);
  return payload;
}

}  // namespace

std::vector<std::byte> request(Query query, std::string_view netdev, bool with_counters) {
  if (query == Query::statistics) return statistics_request(netdev, kAllGroups);
  return request_about(query, netdev,
                       operation(query).has_counters && with_counters ? ETHTOOL_FLAG_STATS : 0U);
}

std::vector<std::byte> statistics_request(std::string_view netdev, Groups groups) {
  std::vector<std::byte> payload = request_about(Query::statistics, netdev, 0);
  std::vector<std::byte> bits;
  append_attr(bits, ETHTOOL_A_BITSET_NOMASK, {});
  append_number(bits, ETHTOOL_A_BITSET_SIZE, static_cast<std::uint32_t>(kGroups.size()));
  append_number(bits, ETHTOOL_A_BITSET_VALUE, groups);
  append_attr(payload, ETHTOOL_A_STATS_GROUPS | NLA_F_NESTED, bits);
  return payload;
}

std::optional<std::vector<std::byte>> with_all_groups(Bytes request) {
  const auto attrs = attributes(request, ETHTOOL_MSG_STATS_GET);
  if (!attrs) return std::nullopt;
  std::string_view netdev;
  for_each_attr(*attrs, [&](const Attr& attr) {
    if (attr.type != ETHTOOL_A_STATS_HEADER) return;
    for_each_attr(attr.data, [&](const Attr& part) {
      if (part.type == ETHTOOL_A_HEADER_DEV_NAME) netdev = part.text();
    });
  });
  return statistics_request(netdev, kAllGroups);
}

Groups group_of(std::size_t counter) {
  const auto group = std::find_if(kGroups.begin(), kGroups.end(), [&](const Group& g) {
    return counter >= g.first && counter < g.first + g.size;
  });
  return group == kGroups.end() ? 0 : bit(*group);
}

core::Result<void> parse_statistics(Bytes payload, const OnCounter& on_counter) {
  bool groups_whole = true;
  const bool whole = for_each_attr_of(Query::statistics, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_STATS_GRP) groups_whole = parse_group(attr.data, on_counter) && groups_whole;
  });
  return parsed(whole && groups_whole);
}

core::Result<Pause> parse_pause(Bytes payload, const OnCounter& on_counter) {
  Pause pause;
  bool nest_whole = true;
  const bool whole = for_each_attr_of(Query::pause, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_PAUSE_RX) pause.rx = flag(attr);
    if (attr.type == ETHTOOL_A_PAUSE_TX) pause.tx = flag(attr);
    if (attr.type != ETHTOOL_A_PAUSE_STATS) return;
    nest_whole = for_each_attr(attr.data, [&](const Attr& counter) {
      const auto value = counter.number<std::uint64_t>();
      if (value && counter.type == ETHTOOL_A_PAUSE_STAT_TX_FRAMES) on_counter(kTxPause, *value);
      if (value && counter.type == ETHTOOL_A_PAUSE_STAT_RX_FRAMES) on_counter(kRxPause, *value);
    });
  });
  if (!whole || !nest_whole) return core::parse_error();
  return pause;
}

core::Result<Fec> parse_fec(Bytes payload, const OnCounter& on_counter) {
  Fec fec;
  bool nest_whole = true;
  const bool whole = for_each_attr_of(Query::fec, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_FEC_ACTIVE) fec.active = fec_mode(attr.number<std::uint32_t>().value_or(0));
    if (attr.type == ETHTOOL_A_FEC_STATS) nest_whole = parse_fec_counters(attr.data, on_counter, fec);
  });
  if (!whole || !nest_whole) return core::parse_error();
  return fec;
}

core::Result<LinkState> parse_link_state(Bytes payload, const OnCounter& on_counter) {
  LinkState link;
  std::optional<std::uint8_t> state;
  std::uint8_t substate = 0;
  const bool whole = for_each_attr_of(Query::link_state, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_LINKSTATE_LINK) link.up = flag(attr);
    if (attr.type == ETHTOOL_A_LINKSTATE_EXT_STATE) state = attr.number<std::uint8_t>();
    if (attr.type == ETHTOOL_A_LINKSTATE_EXT_SUBSTATE)
      substate = attr.number<std::uint8_t>().value_or(std::uint8_t{0});
    if (attr.type != kLinkStateDownCount) return;
    if (const auto count = attr.number<std::uint32_t>()) on_counter(kLinkDownEvents, *count);
  });
  if (!whole) return core::parse_error();
  if (state) {
    link.extended_state = link_extended_state(*state);
    link.extended_substate = link_extended_substate(*state, substate);
  }
  return link;
}

core::Result<std::optional<double>> parse_speed(Bytes payload) {
  constexpr double kBytesPerMegabit = 1e6 / 8;
  std::optional<double> speed;
  const bool whole = for_each_attr_of(Query::link_modes, payload, [&](const Attr& attr) {
    if (attr.type != ETHTOOL_A_LINKMODES_SPEED) return;
    const auto megabits = attr.number<std::uint32_t>();
    // SPEED_UNKNOWN is all-ones; some drivers say 0 instead.
    if (megabits && *megabits != 0 && *megabits != std::numeric_limits<std::uint32_t>::max())
      speed = *megabits * kBytesPerMegabit;
  });
  if (!whole) return core::parse_error();
  return speed;
}

std::optional<std::uint32_t> parse_lanes(Bytes payload) {
  std::optional<std::uint32_t> lanes;
  const bool whole = for_each_attr_of(Query::link_modes, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_LINKMODES_LANES) lanes = attr.number<std::uint32_t>();
  });
  return whole ? lanes : std::nullopt;
}

core::Result<Rings> parse_rings(Bytes payload) {
  Rings rings;
  const bool whole = for_each_attr_of(Query::rings, payload, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_RINGS_RX) rings.rx = attr.number<std::uint32_t>();
    if (attr.type == ETHTOOL_A_RINGS_RX_MAX) rings.rx_max = attr.number<std::uint32_t>();
    if (attr.type == ETHTOOL_A_RINGS_TX) rings.tx = attr.number<std::uint32_t>();
    if (attr.type == ETHTOOL_A_RINGS_TX_MAX) rings.tx_max = attr.number<std::uint32_t>();
  });
  if (!whole) return core::parse_error();
  return rings;
}

core::Result<std::optional<bool>> parse_module_high_power(Bytes payload) {
  std::optional<bool> high;
  const bool whole = for_each_attr_of(Query::module, payload, [&](const Attr& attr) {
    if (attr.type != ETHTOOL_A_MODULE_POWER_MODE) return;
    const auto mode = attr.number<std::uint8_t>();
    if (mode) high = *mode == ETHTOOL_MODULE_POWER_MODE_HIGH;
  });
  if (!whole) return core::parse_error();
  return high;
}

}  // namespace rdma_exporter::host::genl_ethtool
