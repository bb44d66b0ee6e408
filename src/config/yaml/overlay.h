// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/flags/option.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// Overlays `config` with the YAML in `text`; values that the text does not mention stay unchanged. The error
/// is a complete message, "FILE:LINE: KEY: what is wrong (what is allowed)"; `config` is then partly overlaid
/// and must not be used.
core::Result<void> load_text(std::string_view text, std::string_view file_name,
                             std::span<const Option> options, Config& config);

}  // namespace rdma_exporter::config
