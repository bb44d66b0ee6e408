// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "fleet/problem.h"

namespace rdma_exporter::fleet {

/// The parameters of an analysis.
struct Question {
  std::string url;
  std::string at;  ///< RFC 3339
  long window_seconds = 0;
};

/// The verdict: "2 critical, 1 warning, 0 info".
std::string in_words(const Analysis& analysis);
/// One screen of text.
std::string to_text(const Question& question, const Analysis& analysis);
/// JSON for programs; docs/FLEET.md describes it.
std::string to_json(const Question& question, const Analysis& analysis);
/// A single file without scripts or external resources. All text is escaped.
std::string to_html(const Question& question, const Analysis& analysis);

}  // namespace rdma_exporter::fleet
