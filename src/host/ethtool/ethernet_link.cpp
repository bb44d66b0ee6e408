// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/ethernet_link.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host {
namespace {

constexpr double kGigabit = 1e9 / 8;
constexpr double kSymbolBits = 10;
constexpr double kBitsPerByte = 8;

// 25 Gbit/s on NRZ lanes: 64b/66b of 25.78 Gbit/s, which the code's parity fits into. Limit: clause 95.
constexpr FecCode kRs528{5e-5, 528 * kSymbolBits / kBitsPerByte, 66.0 / 64};
// PAM4 lanes: 26.5625 Gbaud for 50 Gbit/s. Limit: clause 136.1.
constexpr FecCode kRs544{2.4e-4, 544 * kSymbolBits / kBitsPerByte, 53.125 / 50};

struct State {
  std::uint8_t state;
  std::string_view word;
};
constexpr std::array kStates{
    State{ETHTOOL_LINK_EXT_STATE_AUTONEG, "autoneg"},
    State{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE, "link_training_failure"},
    State{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH, "link_logical_mismatch"},
    State{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY, "bad_signal_integrity"},
    State{ETHTOOL_LINK_EXT_STATE_NO_CABLE, "no_cable"},
    State{ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE, "cable_issue"},
    State{ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE, "eeprom_issue"},
    State{ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE, "calibration_failure"},
    State{ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED, "power_budget_exceeded"},
    State{ETHTOOL_LINK_EXT_STATE_OVERHEAT, "overheat"},
    State{ETHTOOL_LINK_EXT_STATE_MODULE, "module"},
};

struct Substate {
  std::uint8_t state;
  std::uint8_t substate;
  std::string_view word;
};
constexpr std::array kSubstates{
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED,
             "no_partner_detected"},
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_ACK_NOT_RECEIVED,
             "ack_not_received"},
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NEXT_PAGE_EXCHANGE_FAILED,
             "next_page_exchange_failed"},
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED_FORCE_MODE,
             "no_partner_detected_force_mode"},
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_FEC_MISMATCH_DURING_OVERRIDE,
             "fec_mismatch_during_override"},
    Substate{ETHTOOL_LINK_EXT_STATE_AUTONEG, ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD, "no_common_mode"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
             ETHTOOL_LINK_EXT_SUBSTATE_LT_KR_FRAME_LOCK_NOT_ACQUIRED, "frame_lock_not_acquired"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
             ETHTOOL_LINK_EXT_SUBSTATE_LT_KR_LINK_INHIBIT_TIMEOUT, "link_inhibit_timeout"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
             ETHTOOL_LINK_EXT_SUBSTATE_LT_KR_LINK_PARTNER_DID_NOT_SET_RECEIVER_READY,
             "partner_did_not_set_receiver_ready"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE, ETHTOOL_LINK_EXT_SUBSTATE_LT_REMOTE_FAULT,
             "remote_fault"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
             ETHTOOL_LINK_EXT_SUBSTATE_LLM_PCS_DID_NOT_ACQUIRE_BLOCK_LOCK, "pcs_did_not_acquire_block_lock"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
             ETHTOOL_LINK_EXT_SUBSTATE_LLM_PCS_DID_NOT_ACQUIRE_AM_LOCK, "pcs_did_not_acquire_am_lock"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
             ETHTOOL_LINK_EXT_SUBSTATE_LLM_PCS_DID_NOT_GET_ALIGN_STATUS, "pcs_did_not_get_align_status"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH, ETHTOOL_LINK_EXT_SUBSTATE_LLM_FC_FEC_IS_NOT_LOCKED,
             "fc_fec_is_not_locked"},
    Substate{ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH, ETHTOOL_LINK_EXT_SUBSTATE_LLM_RS_FEC_IS_NOT_LOCKED,
             "rs_fec_is_not_locked"},
    Substate{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY,
             ETHTOOL_LINK_EXT_SUBSTATE_BSI_LARGE_NUMBER_OF_PHYSICAL_ERRORS,
             "large_number_of_physical_errors"},
    Substate{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY, ETHTOOL_LINK_EXT_SUBSTATE_BSI_UNSUPPORTED_RATE,
             "unsupported_rate"},
    Substate{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY,
             ETHTOOL_LINK_EXT_SUBSTATE_BSI_SERDES_REFERENCE_CLOCK_LOST, "serdes_reference_clock_lost"},
    Substate{ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY, ETHTOOL_LINK_EXT_SUBSTATE_BSI_SERDES_ALOS,
             "serdes_loss_of_signal"},
    Substate{ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE, ETHTOOL_LINK_EXT_SUBSTATE_CI_UNSUPPORTED_CABLE,
             "unsupported_cable"},
    Substate{ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE, ETHTOOL_LINK_EXT_SUBSTATE_CI_CABLE_TEST_FAILURE,
             "cable_test_failure"},
    Substate{ETHTOOL_LINK_EXT_STATE_MODULE, ETHTOOL_LINK_EXT_SUBSTATE_MODULE_CMIS_NOT_READY,
             "cmis_not_ready"},
};

}  // namespace

std::optional<FecCode> fec_code(std::string_view mode, double speed, std::optional<std::uint32_t> lanes) {
  if (mode != "rs" || speed <= 0) return std::nullopt;
  constexpr double kFastestNrzLane = 30 * kGigabit;
  constexpr double kAlwaysPam4 = 200 * kGigabit;
  if (lanes && *lanes > 0) return speed / *lanes > kFastestNrzLane ? kRs544 : kRs528;
  if (speed >= kAlwaysPam4) return kRs544;
  if (speed <= kFastestNrzLane) return kRs528;
  return std::nullopt;
}

std::string_view link_extended_state(std::uint8_t state) {
  const auto found =
      std::find_if(kStates.begin(), kStates.end(), [&](const State& s) { return s.state == state; });
  return found == kStates.end() ? "other" : found->word;
}

std::string_view link_extended_substate(std::uint8_t state, std::uint8_t substate) {
  if (substate == 0) return {};
  const auto found = std::find_if(kSubstates.begin(), kSubstates.end(), [&](const Substate& s) {
    return s.state == state && s.substate == substate;
  });
  return found == kSubstates.end() ? "other" : found->word;
}

}  // namespace rdma_exporter::host

namespace rdma_exporter::host::genl_ethtool {
namespace {

// "400000baseCR4/Full": megabits per second, then the medium. Other bits ("Autoneg", "FIBRE", "RS") have no
// number.
std::optional<double> speed_of(std::string_view mode) {
  constexpr double kBytesPerMegabit = 1e6 / 8;
  std::uint32_t megabits = 0;
  const auto [end, error] = std::from_chars(mode.data(), mode.data() + mode.size(), megabits);
  const std::string_view rest = mode.substr(static_cast<std::size_t>(end - mode.data()));
  if (error != std::errc{} || !rest.starts_with("base")) return std::nullopt;
  return megabits * kBytesPerMegabit;
}

// A bitset with a mask lists each bit of the mask, here the supported modes; those that are advertised also
// have a flag (net/ethtool/bitset.c).
bool parse_bits(Bytes bitset, std::optional<double>& fastest) {
  bool whole = true;
  const auto on_bit = [&](const Attr& bit) {
    if (bit.type != ETHTOOL_A_BITSET_BITS_BIT) return;
    whole = for_each_attr(bit.data,
                          [&](const Attr& field) {
                            if (field.type != ETHTOOL_A_BITSET_BIT_NAME) return;
                            if (const auto speed = speed_of(field.text()))
                              fastest = std::max(fastest.value_or(0), *speed);
                          }) &&
            whole;
  };
  const bool outer = for_each_attr(bitset, [&](const Attr& attr) {
    if (attr.type == ETHTOOL_A_BITSET_BITS) whole = for_each_attr(attr.data, on_bit) && whole;
  });
  return outer && whole;
}

}  // namespace

std::vector<std::byte> supported_modes_request(std::string_view netdev) {
  std::vector<std::byte> header;
  append_text(header, ETHTOOL_A_HEADER_DEV_NAME, netdev);
  auto payload = generic_netlink::message(ETHTOOL_MSG_LINKMODES_GET, ETHTOOL_GENL_VERSION);
  append_attr(payload, ETHTOOL_A_LINKMODES_HEADER | NLA_F_NESTED, header);
  return payload;
}

core::Result<std::optional<double>> parse_fastest_mode(Bytes payload) {
  const auto attributes = generic_netlink::attributes(payload, ETHTOOL_MSG_LINKMODES_GET_REPLY);
  std::optional<double> fastest;
  bool bits_whole = true;
  const bool whole = attributes && for_each_attr(*attributes, [&](const Attr& attr) {
                       if (attr.type == ETHTOOL_A_LINKMODES_OURS) bits_whole = parse_bits(attr.data, fastest);
                     });
  if (!whole || !bits_whole) return core::parse_error();
  return fastest;
}

}  // namespace rdma_exporter::host::genl_ethtool
