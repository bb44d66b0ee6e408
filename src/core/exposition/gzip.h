// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// Compression level of libdeflate, from 1 (fast) to 12 (small). Level 1 shrinks a page to a seventh; higher
/// levels cost twice the time for little gain.
inline constexpr int kQuickest = 1;
inline constexpr int kSmallest = 9;

/// Returns `text` as a gzip member (RFC 1952) without a name or a time, so that the same text gives the same
/// bytes. Empty if memory runs out.
std::string gzip(std::string_view text, int level = kQuickest);

}  // namespace rdma_exporter::core
