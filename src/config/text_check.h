// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdma_exporter::config {

inline constexpr std::size_t kMaxFileBytes = 1 << 20;  ///< bytes

struct TextProblem {
  unsigned line;  ///< from 1
  std::string what;
};

/// Finds what makes `text` unacceptable as a text file: control characters, bytes that are not UTF-8, its
/// length, or indentation with tabs.
std::optional<TextProblem> find_text_problem(std::string_view text);

}  // namespace rdma_exporter::config
