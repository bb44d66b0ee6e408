// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>

// Words for why an interface has no link (include/uapi/linux/ethtool.h ETHTOOL_LINK_EXT_STATE_*).
namespace rdma_exporter::host {

/// "no_cable", "bad_signal_integrity"; "other" for a state that the headers of Linux 6.1 do not have.
std::string_view link_extended_state(std::uint8_t state);

/// What the state says in more detail, "other" for an unknown one, empty for 0 (no more detail).
std::string_view link_extended_substate(std::uint8_t state, std::uint8_t substate);

}  // namespace rdma_exporter::host
