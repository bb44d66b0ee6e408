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

/// The answer of a host's seam to one question.
struct Answer {
  /// A text, the entries of a list, or the messages of netlink; after an error, those that preceded it.
  std::vector<std::string> parts = {};
  /// "EINVAL", "too_long", "parse", or the number of an errno without a name. Empty if there was no error.
  std::string error = {};

  bool operator==(const Answer&) const = default;
};

/// All questions of one moment (question.h) with their answers.
using Snapshot = std::map<std::string, Answer, std::less<>>;

/// Converts an error to a word, and back; an unknown word becomes EIO.
std::string error_word(const core::Error& error);
core::Error error_of_word(std::string_view word);

}  // namespace rdma_exporter::record
