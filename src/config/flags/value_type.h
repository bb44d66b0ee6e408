// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/message.h"
#include "core/result.h"

// The kinds of values an option can have. A new kind is a function here that returns a ValueType.
namespace rdma_exporter::config {

/// How values of one option are read and written.
template <typename T>
struct ValueType {
  std::string placeholder;  ///< stands for the value in help: "DURATION"
  std::string allowed;      ///< what to do instead, for messages: "use true or false"
  std::function<core::Result<T>(std::string_view)>
      parse;                                    ///< error context: what is wrong, put after the value
  std::function<std::string(const T&)> format;  ///< parse() of it gives the value again
  bool literal = false;                         ///< numbers and booleans: not quoted in YAML
};

/// Several values of one type, at least `at_least` of them.
template <typename T>
struct ListType {
  ValueType<T> item;
  std::size_t at_least = 0;
};

template <typename T>
ListType<T> list_of(ValueType<T> item, std::size_t at_least) {
  return {std::move(item), at_least};
}

/// One line of UTF-8, possibly empty. All text types build on it: no control characters, at most 4096 bytes.
ValueType<std::string> text(std::string_view placeholder, std::string_view allowed);
/// The same, not empty.
ValueType<std::string> filled_text(std::string_view placeholder, std::string_view allowed);
/// An expression that RE2 takes, which is matched against the whole name; empty: unset.
ValueType<core::Pattern> regex();
ValueType<std::string> listen_address();
/// Where metrics are served: an absolute path that is not the landing page and not under /-/.
ValueType<std::string> telemetry_path();
ValueType<bool> boolean();
/// A whole number in [min, max].
ValueType<unsigned> number(unsigned min, unsigned max);
/// A duration in [min, max].
ValueType<std::chrono::milliseconds> duration(std::chrono::milliseconds min, std::chrono::milliseconds max);
/// The same without parts of a second.
ValueType<std::chrono::seconds> whole_seconds(std::chrono::seconds min, std::chrono::seconds max);

/// A peer of the probe: "HOST[:PORT][,name=N][,group=G][,device=D][,from=D][,source=A]".
ValueType<ProbeTarget> probe_target();

using Words = std::vector<std::pair<std::string, int>>;

/// What one_of() does, whatever the enumeration.
std::string allowed_words(const Words& words);
core::Result<int> value_of_word(const Words& words, std::string_view text);
std::string word_of_value(const Words& words, int value);

/// One word of a fixed set. `words` must name every value of the enumeration that can occur.
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
