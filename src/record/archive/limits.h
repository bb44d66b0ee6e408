// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>

// What a recording may be like. Whoever sends one may be a stranger: nothing in it may make the reader use
// more memory or time than a real one of the largest hosts does.
namespace rdma_exporter::record::limits {

/// Of the file. A host with 8 adapters and 2000 queue pairs takes about 200 kB for the first snapshot.
inline constexpr std::size_t kArchiveBytes = 64UL << 20U;
/// Of one member when unpacked: a dump of 20,000 queue pairs is 4 MB, twice that in hexadecimal digits.
inline constexpr std::size_t kMemberBytes = 64UL << 20U;
/// Of all members together.
inline constexpr std::size_t kUnpackedBytes = 256UL << 20U;
/// How many times larger than the archive its members may be. Names and counters shrink to a tenth, tables
/// full of zeros to a fiftieth; what shrinks more is a bomb. Only what is above kAlwaysAllowed is judged.
inline constexpr std::size_t kRatio = 200;
inline constexpr std::size_t kAlwaysAllowed = 1UL << 20U;
/// An hour with one every 15 seconds.
inline constexpr std::size_t kSnapshots = 240;
/// A manifest, and the snapshots.
inline constexpr std::size_t kMembers = 1 + kSnapshots;
/// Of the manifest: 200 bytes a snapshot, and room for what later versions add.
inline constexpr std::size_t kManifestBytes = 1UL << 20U;
/// Questions with an answer, in all snapshots together.
inline constexpr std::size_t kAnswers = 2'000'000;

}  // namespace rdma_exporter::record::limits
