// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// Reads "HOST", "HOST:PORT", "[IPV6]:PORT", each perhaps with attributes behind it: ",name=a,group=b". The
/// error's context is what is wrong, to be put after the text.
core::Result<ProbeTarget> parse_probe_target(std::string_view text);

/// parse_probe_target() of it gives the target again.
std::string to_string(const ProbeTarget& target);

}  // namespace rdma_exporter::config
