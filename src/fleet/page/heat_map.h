// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

#include "fleet/problem.h"

namespace rdma_exporter::fleet {

/// Where the problems are, rail by host. A large fleet is drawn rail by unit first; hosts then follow only
/// where there is more than info. The classes of its shapes are those of fleet_page.cpp: critical, warning,
/// info, ok.
std::string heat_map(const Analysis& analysis);

/// A picture of this width and height in units of its own, which narrow screens scroll and paper shrinks.
std::string picture(int width, int height, std::string_view title, const std::string& content);

}  // namespace rdma_exporter::fleet
