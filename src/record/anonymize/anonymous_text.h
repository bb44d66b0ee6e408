// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

#include "record/anonymize/pseudonyms.h"

namespace rdma_exporter::record {

/// A text of the kernel with other addresses: MAC addresses (aa:bb:cc:dd:ee:ff), GUIDs (0011:2233:4455:6677),
/// GIDs (eight such groups), IPv4 addresses (10.0.0.1), wherever they stand, and the name of the host.
std::string anonymous_text(std::string_view text, std::string_view host_name, Pseudonyms& pseudonyms);

/// The content of /proc/PID/cgroup with other names of pods, containers, jobs and units. What tells the kind
/// of an owner stays: core::parse_cgroup_owner() finds one of the same kind.
std::string anonymous_cgroup(std::string_view text, Pseudonyms& pseudonyms);

}  // namespace rdma_exporter::record
