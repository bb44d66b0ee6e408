// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// Finds the component that explains the failing paths. Pure numbers; probe_paths.cpp knows the names.
namespace rdma_exporter::fleet {

struct VoteNic {
  std::size_t host = 0;
  std::size_t leaf = 0;  ///< kNoLeaf: unknown
};
inline constexpr std::size_t kNoLeaf = static_cast<std::size_t>(-1);

/// A probed path from one NIC to another.
struct VoteEdge {
  std::size_t from = 0;
  std::size_t to = 0;
  double weight = 1;  ///< less for a busy prober
  bool bad = false;
};

/// Possible causes of a bad edge.
enum class Cause : std::uint8_t { fault, maybe_load };

enum class Part : std::uint8_t { nic, host, leaf, uplinks };

struct Blamed {
  Part part = Part::nic;
  std::size_t index = 0;  ///< of the NIC, the host, or the leaf
  double bad = 0;         ///< total weight of its bad edges
  double all = 0;         ///< total weight of all edges that cross it
  double share() const { return all > 0 ? bad / all : 0; }
};

struct Verdict {
  std::vector<Blamed> blamed;            ///< in the order in which they were found
  std::vector<std::size_t> noisy;        ///< hosts whose own probes are bad although probes to them are not
  std::vector<std::size_t> unexplained;  ///< edges
};

/// Blames the component that explains the most, removes its bad edges, and repeats until no component is good
/// enough. Shares of single NICs alone would blame the NICs of a leaf that loses some of its paths. The
/// scheme follows 007 (NSDI 2018), with an additional test whether a smaller component fails more than the
/// larger one explains. A component is blamed only if paths into it and out of it are bad and, where load may
/// be the cause, if it is worse than the rest of the fleet.
Verdict vote(const std::vector<VoteNic>& nics, std::vector<VoteEdge> edges, Cause cause = Cause::fault);

}  // namespace rdma_exporter::fleet
