// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "config/flags/command.h"

namespace rdma_exporter::config {

/// The manual page rdma_exporter(1) in troff's man macros (man(7)), generated from the tables of flags and
/// commands.
std::string man_page(std::span<const CollectorChoice> collectors, std::span<const CommandSyntax> commands,
                     std::string_view version);

}  // namespace rdma_exporter::config
