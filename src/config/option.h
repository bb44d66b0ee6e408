// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/message.h"
#include "config/value_type.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// One option without its value's type: what the flags, the file, the help and the printing work on.
struct Option {
  enum class Shape : unsigned char { single, list, toggle };

  std::string flag;  ///< without the leading dashes
  std::string key;   ///< in the file; dots are levels
  std::string help;
  std::string placeholder;
  std::string allowed;
  Shape shape = Shape::single;
  bool literal = false;
  std::size_t at_least = 0;  ///< values, for a list

  std::function<void(Config&)> clear;                                ///< empties a list before add()
  std::function<core::Result<void>(Config&, std::string_view)> add;  ///< sets, or appends to a list
  std::function<std::vector<std::string>(const Config&)> values;
};

/// The file's key of a flag: "web.listen-address" -> "web.listen_address".
std::string key_of_flag(std::string_view flag);

/// Path to a member: at(&Config::web, &WebConfig::listen_addresses).
template <typename... Members>
auto at(Members... members) {
  return [members...](auto& config) -> auto& { return (config.*....*members); };
}

/// What every row has in common.
template <typename T>
Option blank_option(std::string flag, std::string help, const ValueType<T>& type) {
  Option option;
  option.key = key_of_flag(flag);
  option.flag = std::move(flag);
  option.help = std::move(help);
  option.placeholder = type.placeholder;
  option.allowed = type.allowed;
  option.literal = type.literal;
  option.clear = [](Config&) {};
  return option;
}

/// Parses `text`, or says what is wrong with it and what is allowed.
template <typename T>
core::Result<T> checked(const ValueType<T>& type, std::string_view text) {
  auto value = type.parse(text);
  if (value) return value;
  return core::config_error(in_quotes(text) + " " + value.error().context + " (" + type.allowed + ")");
}

/// A row of the table for one value; `member(config)` is a reference to it.
template <typename T, typename Member>
Option option(std::string flag, std::string help, ValueType<T> type, Member member) {
  Option made = blank_option(std::move(flag), std::move(help), type);
  if constexpr (std::is_same_v<T, bool>) made.shape = Option::Shape::toggle;
  made.add = [type, member](Config& config, std::string_view text) -> core::Result<void> {
    return checked(type, text).map([&](T&& value) { member(config) = std::move(value); });
  };
  made.values = [type, member](const Config& config) { return std::vector{type.format(member(config))}; };
  return made;
}

/// A row of the table for a list.
template <typename T, typename Member>
Option option(std::string flag, std::string help, ListType<T> type, Member member) {
  Option made = blank_option(std::move(flag), std::move(help), type.item);
  made.shape = Option::Shape::list;
  made.at_least = type.at_least;
  made.clear = [member](Config& config) { member(config).clear(); };
  made.add = [item = type.item, member](Config& config, std::string_view text) -> core::Result<void> {
    return checked(item, text).map([&](T&& value) { member(config).push_back(std::move(value)); });
  };
  made.values = [item = type.item, member](const Config& config) {
    std::vector<std::string> texts;
    for (const T& value : member(config)) texts.push_back(item.format(value));
    return texts;
  };
  return made;
}

}  // namespace rdma_exporter::config
