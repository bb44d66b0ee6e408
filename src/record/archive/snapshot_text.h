// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "record/question.h"

// Format of a snapshot: one line per question, in the order of the questions. Tabs separate the fields of a
// line; the second field says what follows.
//
// clang-format off
//   QUESTION  =  PART...          an answer, its parts as text: \t, \n, \\ and \xHH are escapes
//   QUESTION  #  PART...          the same in hexadecimal digits, where a part is not UTF-8 (netlink, ethtool)
//   QUESTION  !  ERROR  PART...   an error, and in hexadecimal digits what came before it
//   QUESTION  -                   no longer answered; only in a snapshot that follows another one
// clang-format on
namespace rdma_exporter::record {

/// Writes what differs in `after`. For a snapshot on its own, `before` is empty.
std::string write_difference(const Snapshot& before, const Snapshot& after);

/// Reads such a text. `on_line` receives each question with its answer, or nullopt if it is no longer
/// answered. The error is of kind parse and names the line; `on_line` has received the lines before it.
core::Result<void> read_difference(
    std::string_view text, const std::function<void(std::string question, std::optional<Answer>)>& on_line);

}  // namespace rdma_exporter::record
