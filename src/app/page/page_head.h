// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "config/config.h"
#include "host/privileges.h"

namespace rdma_exporter::app {

/// What the exporter says of itself on its pages, as HTML: version, whether it shows a recording, privileges
/// that are missing. `links`: also where its other pages are. All text is escaped: paths come from outside.
std::string page_head(const config::Config& config, const std::vector<host::MissingPrivilege>& missing,
                      bool links);

}  // namespace rdma_exporter::app
