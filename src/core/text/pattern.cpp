// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text/pattern.h"

#include <re2/re2.h>

namespace rdma_exporter::core {

Pattern::Pattern(std::string_view expression) : Pattern(compile(expression).value()) {}

Result<Pattern> Pattern::compile(std::string_view expression) {
  Pattern pattern;
  if (expression.empty()) return pattern;
  auto compiled = std::make_shared<const re2::RE2>(std::string(expression), re2::RE2::Quiet);
  if (!compiled->ok()) return config_error(compiled->error());
  pattern.text_ = expression;
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

bool Pattern::matches(std::string_view name) const {
  return compiled_ && re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), *compiled_);
}

}  // namespace rdma_exporter::core
