// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace re2 {
class RE2;
}

namespace rdma_exporter::core {

/// A regular expression for whole names in the syntax of RE2, which is Prometheus's. A match takes time
/// linear in the name, whatever the expression. Copies share the compiled expression. Any thread.
class Pattern {
 public:
  /// Unset: text() is empty.
  Pattern() = default;
  /// For expressions of this program. Terminates where `expression` does not compile.
  explicit Pattern(std::string_view expression);
  /// The empty expression is unset. Errc::config with what is wrong with the expression.
  static Result<Pattern> compile(std::string_view expression);

  bool is_set() const { return compiled_ != nullptr; }
  const std::string& text() const { return text_; }
  /// Whether the whole of `name` matches. False where unset.
  bool matches(std::string_view name) const;

  bool operator==(const Pattern& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace rdma_exporter::core
