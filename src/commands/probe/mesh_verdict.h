// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <string>

#include "commands/probe/tally.h"

// The output of `rdma_exporter probe --mesh`: which peers this host reaches, and what the failures have in
// common. Pure.
namespace rdma_exporter::commands {

/// What is known about the list that defines the mesh.
struct MeshList {
  std::size_t entries = 0;  ///< 0: it could not be read, or has none
  bool member = false;      ///< this host is one of them
};

/// One line per path, then the verdict: how many paths work, and which adapter, host or connection explains
/// the others. An adapter is blamed if no path from it works (at least two) and others of this host do; a
/// target if no path to it works from at least two adapters and other targets answer.
std::string mesh_text(const Tallies& tallies, const MeshList& list);

}  // namespace rdma_exporter::commands
