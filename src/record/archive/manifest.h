// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/kernel_release.h"

namespace rdma_exporter::record {

using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// A recording's description of itself: manifest.json.
struct Manifest {
  /// Increased when older readers would misunderstand the content. Additional members do not count.
  static constexpr unsigned kFormat = 1;
  static constexpr std::string_view kMember = "manifest.json";

  /// A device, for people who read only the manifest.
  struct Device {
    std::string name = {};
    std::string driver = {};
    std::string firmware = {};
    std::string board = {};
  };
  struct SnapshotEntry {
    std::string member;  ///< "snapshots/0000"
    Time time;           ///< when it was complete
    std::string sha256;  ///< of the member
  };

  std::string tool_version = {};
  std::string tool_revision = {};
  bool anonymized = false;
  host::Kernel kernel = {};
  std::vector<Device> devices = {};
  std::vector<SnapshotEntry> snapshots = {};
};

/// "snapshots/0007".
std::string snapshot_member(std::size_t index);

/// "2026-11-21T10:00:00Z".
std::string utc(Time time);

std::string to_json(const Manifest& manifest);

/// The error is a message: what is wrong, or that the format is newer.
core::Result<Manifest> parse_manifest(std::string_view text);

}  // namespace rdma_exporter::record
