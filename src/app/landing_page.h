// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>

namespace rdma_exporter::app {

/// The HTML of "/". All text is escaped: device names and paths come from outside.
std::string landing_page(const std::string& telemetry_path, std::span<const std::string> devices,
                         const std::string& recording);

}  // namespace rdma_exporter::app
