// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/job.h"
#include "core/result.h"
#include "host/fs/host_fs.h"

namespace rdma_exporter::collectors {

/// Errors that say "this device, driver or kernel does not have that attribute or counter" (or not any more).
/// All others are read errors and counted.
bool means_absent(const core::Error& error);

/// Counts `error` unless it means absence.
void count_unless_absent(const core::Error& error, core::JobRun& run);

/// Text of an attribute for use as a label value. Empty if the attribute could not be read, which is counted
/// unless it means absence; cut at 128 bytes (node_desc, the longest legal attribute, has 64).
std::string attr_text(core::Result<std::string> text, core::JobRun& run);
std::string attr_text(host::HostFs& sysfs, const std::string& path, core::JobRun& run);

/// The same, but `kept` stays as it is after a read error: a label that changes makes another series.
void update_attr_text(std::string& kept, core::Result<std::string> text, core::JobRun& run);

}  // namespace rdma_exporter::collectors
