// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "record/anonymize/pseudonyms.h"
#include "record/answer.h"

namespace rdma_exporter::record {

/// A snapshot that says the same of a host without saying whose it is: other GUIDs, GIDs, IP and MAC
/// addresses, names of the host, of processes, pods, containers and jobs; in files and in netlink answers.
/// Names of devices and interfaces, PCI addresses, drivers, firmware and all counters stay. With the same
/// `pseudonyms` the same becomes the same. `host_name` as uname says it.
Snapshot anonymous(const Snapshot& snapshot, const std::string& host_name, Pseudonyms& pseudonyms);

}  // namespace rdma_exporter::record
