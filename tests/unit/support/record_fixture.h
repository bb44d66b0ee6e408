// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "record/archive/recording.h"

namespace rdma_exporter::record {

/// The archive of these snapshots, ten seconds apart.
inline std::string archive_of(const std::vector<Snapshot>& snapshots) {
  Manifest manifest;
  manifest.tool_version = "1.2.3";
  manifest.kernel = {"6.1.0-56-amd64", "#1 SMP", "x86_64"};
  manifest.devices = {{"mlx5_0", "mlx5_core", "28.39.1002", "MT_0000000838"}};
  for (std::size_t i = 0; i < snapshots.size(); ++i)
    manifest.snapshots.push_back({{}, Time(std::chrono::seconds(1'700'000'000 + 10 * i)), {}});
  return write_recording(manifest, snapshots);
}

inline core::Result<Recording> recording_of(const std::vector<Snapshot>& snapshots) {
  return Recording::read(archive_of(snapshots), "x.tar.gz");
}

}  // namespace rdma_exporter::record
