// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::record {

/// What a seam of the host answered to one question.
struct Answer {
  /// A text; the entries of a list; the messages of netlink; with an error, what came before it.
  std::vector<std::string> parts = {};
  /// "EINVAL", "too_long", "parse", the number of an errno without a name; empty: it worked.
  std::string error = {};

  bool operator==(const Answer&) const = default;
};

/// All questions of one moment (question.h) with their answers.
using Snapshot = std::map<std::string, Answer, std::less<>>;

/// An error as a word, and back; a word that is none is EIO.
std::string error_word(const core::Error& error);
core::Error error_of_word(std::string_view word);

}  // namespace rdma_exporter::record
