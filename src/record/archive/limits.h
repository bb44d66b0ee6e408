// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>

// Limits of a recording. It may come from a stranger: nothing in it may make the reader use more memory or
// time than a genuine recording of the largest hosts would.
namespace rdma_exporter::record::limits {

/// Size of the file. The first snapshot of a host with 8 adapters and 2000 queue pairs takes about 200 kB.
inline constexpr std::size_t kArchiveBytes = 64UL << 20U;
/// Unpacked size of one member: a dump of 20,000 queue pairs is 4 MB, twice as much in hexadecimal digits.
inline constexpr std::size_t kMemberBytes = 64UL << 20U;
/// Unpacked size of all members.
inline constexpr std::size_t kUnpackedBytes = 256UL << 20U;
/// How many times larger than the archive its members may be. Names and counters shrink to a tenth, tables
/// full of zeros to a fiftieth; anything that shrinks more is a decompression bomb. Applies only above
/// kAlwaysAllowed.
inline constexpr std::size_t kRatio = 200;
inline constexpr std::size_t kAlwaysAllowed = 1UL << 20U;
/// An hour with one snapshot every 15 seconds.
inline constexpr std::size_t kSnapshots = 240;
/// The manifest and the snapshots.
inline constexpr std::size_t kMembers = 1 + kSnapshots;
/// Size of the manifest: 200 bytes per snapshot, and room for additions by later versions.
inline constexpr std::size_t kManifestBytes = 1UL << 20U;
/// Number of questions with an answer, in all snapshots together.
inline constexpr std::size_t kAnswers = 2'000'000;

}  // namespace rdma_exporter::record::limits
