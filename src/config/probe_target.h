// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// Parses "HOST", "HOST:PORT" or "[IPV6]:PORT", optionally followed by attributes: ",name=a,group=b". The
/// error's context says what is wrong; it is meant to follow the text in a message.
core::Result<ProbeTarget> parse_probe_target(std::string_view text);

/// parse_probe_target() of the result gives the target again.
std::string to_string(const ProbeTarget& target);

}  // namespace rdma_exporter::config
