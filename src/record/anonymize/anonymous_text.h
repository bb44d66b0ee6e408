// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

#include "record/anonymize/pseudonyms.h"

namespace rdma_exporter::record {

/// Replaces addresses anywhere in a text from the kernel: MAC addresses (aa:bb:cc:dd:ee:ff), GUIDs
/// (0011:2233:4455:6677), GIDs (eight such groups), IPv4 addresses (10.0.0.1); and the name of the host.
std::string anonymous_text(std::string_view text, std::string_view host_name, Pseudonyms& pseudonyms);

/// Replaces names of pods, containers, jobs and units in the content of /proc/PID/cgroup. The kind of owner
/// stays recognisable: core::parse_cgroup_owner() finds an owner of the same kind.
std::string anonymous_cgroup(std::string_view text, Pseudonyms& pseudonyms);

}  // namespace rdma_exporter::record
