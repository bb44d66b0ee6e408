// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "record/anonymize/pseudonyms.h"
#include "record/question.h"

namespace rdma_exporter::record {

/// Replaces what identifies a host in a snapshot: GUIDs, GIDs, IP and MAC addresses; names of the host, of
/// processes, pods, containers and jobs; serial numbers of modules; in files and in netlink answers.
/// Names of devices and interfaces, PCI addresses, drivers, firmware and all counters stay. With the same
/// `pseudonyms`, equal values get equal replacements. `host_name` is the name that uname reports.
Snapshot anonymous(const Snapshot& snapshot, const std::string& host_name, Pseudonyms& pseudonyms);

}  // namespace rdma_exporter::record
