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

/// A regular expression for whole names in RE2 syntax, which Prometheus uses. Matching takes time linear in
/// the length of the name, whatever the expression. Copies share the compiled expression. Thread-safe.
class Pattern {
 public:
  /// Makes an unset pattern, whose text() is empty.
  Pattern() = default;
  /// For expressions that are part of this program. Terminates if `expression` does not compile.
  explicit Pattern(std::string_view expression);
  /// Compiles an expression; an empty one gives an unset pattern. Errc::config with the reason if the
  /// expression is invalid.
  static Result<Pattern> compile(std::string_view expression);

  bool is_set() const { return compiled_ != nullptr; }
  const std::string& text() const { return text_; }
  /// Whether the whole of `name` matches. False if unset.
  bool matches(std::string_view name) const;

  bool operator==(const Pattern& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace rdma_exporter::core
