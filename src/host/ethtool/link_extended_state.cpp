// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/link_extended_state.h"

#include <linux/ethtool.h>

#include <algorithm>
#include <array>

namespace rdma_exporter::host {
namespace {

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
