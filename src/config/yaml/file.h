// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

// Text files that a person writes.
namespace rdma_exporter::config {

/// The content of a regular file of at most 1 MiB. The error is "NAME: reason", with the errno of open(2) or
/// read(2) if one of these failed.
core::Result<std::string> read_file(const std::string& name);

/// The same error, with `where` in front of its message.
tl::unexpected<core::Error> error_at(std::string_view where, core::Error error);

inline constexpr std::size_t kMaxFileBytes = 1 << 20;

struct TextProblem {
  unsigned line;  ///< from 1
  std::string what;
};

/// Finds what makes `text` unacceptable as a text file: control characters, bytes that are not UTF-8, its
/// length, or indentation with tabs.
std::optional<TextProblem> find_text_problem(std::string_view text);

}  // namespace rdma_exporter::config
