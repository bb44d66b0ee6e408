// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/message.h"
#include "core/result.h"

// The value types of options. To add one, write a function here that returns a ValueType.
namespace rdma_exporter::config {

/// How values of one option are parsed and printed.
template <typename T>
struct ValueType {
  std::string placeholder;  ///< the value in the help: "DURATION"
  std::string allowed;      ///< advice in messages: "use true or false"
  std::function<core::Result<T>(std::string_view)>
      parse;                                    ///< error context: what is wrong, put after the value
  std::function<std::string(const T&)> format;  ///< parse() of it gives the value again
  bool literal = false;                         ///< numbers and booleans: not quoted in YAML
};

/// A list of values of one type with at least `at_least` of them.
template <typename T>
struct ListType {
  ValueType<T> item;
  std::size_t at_least = 0;
};

template <typename T>
ListType<T> list_of(ValueType<T> item, std::size_t at_least) {
  return {std::move(item), at_least};
}

/// One line of UTF-8, possibly empty; all text types are based on it. No control characters, at most 4096
/// bytes.
ValueType<std::string> text(std::string_view placeholder, std::string_view allowed);
/// The same, but not empty.
ValueType<std::string> filled_text(std::string_view placeholder, std::string_view allowed);
/// A regular expression in RE2 syntax, matched against whole names; empty: unset.
ValueType<core::Pattern> regex();
/// The same, and it must match at least one of `names`; `what` describes these in the message.
ValueType<core::Pattern> regex_for(std::vector<std::string_view> names, std::string_view what);
ValueType<std::string> listen_address();
/// The path of the metrics: absolute, not the landing page, and not below /-/.
ValueType<std::string> telemetry_path();
ValueType<bool> boolean();
/// A whole number in [min, max].
ValueType<unsigned> number(unsigned min, unsigned max);
/// A number as `number` has it, or "auto": none.
ValueType<std::optional<unsigned>> automatic_or(const ValueType<unsigned>& number);
/// A duration in [min, max].
ValueType<std::chrono::milliseconds> duration(std::chrono::milliseconds min, std::chrono::milliseconds max);
/// The same in whole seconds.
ValueType<std::chrono::seconds> whole_seconds(std::chrono::seconds min, std::chrono::seconds max);

/// A peer of the probe: "HOST[:PORT][,name=N][,group=G][,device=D][,from=D][,source=A]".
ValueType<ProbeTarget> probe_target();

using Words = std::vector<std::pair<std::string, int>>;

/// Implementation of one_of() that does not depend on the enumeration.
std::string allowed_words(const Words& words);
core::Result<int> value_of_word(const Words& words, std::string_view text);
std::string word_of_value(const Words& words, int value);

/// One of a fixed set of words. `words` must name every value of the enumeration that can occur.
template <typename E>
ValueType<E> one_of(std::string_view placeholder, std::initializer_list<std::pair<const char*, E>> words) {
  Words known;
  for (const auto& [word, value] : words) known.emplace_back(word, static_cast<int>(value));
  auto parse = [known](std::string_view text) {
    return value_of_word(known, text).map([](int value) { return static_cast<E>(value); });
  };
  auto format = [known](const E& value) { return word_of_value(known, static_cast<int>(value)); };
  return {std::string(placeholder), allowed_words(known), std::move(parse), std::move(format)};
}

}  // namespace rdma_exporter::config
