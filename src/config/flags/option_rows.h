// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/flags/option_table.h"

// Helpers to build the rows of option_table(). Because there are many rows, each is a call of one function
// per value type; only the two accessors of its member are specific to a row.

// Sections of option_table() that are long enough for a file of their own.
namespace rdma_exporter::config {

/// A member of the configuration, or of the section of a collector.
template <typename T>
struct Member {
  T& (*of)(Config&, const std::string& collector);
  const T& (*of_const)(const Config&, const std::string& collector);
};

/// Path to a member: at<&Config::web, &WebConfig::listen_addresses>().
template <auto... members>
constexpr auto at() {
  using T = std::remove_reference_t<decltype((std::declval<Config&>().*....*members))>;
  return Member<T>{
      [](Config& config, const std::string&) -> T& { return (config.*....*members); },
      [](const Config& config, const std::string&) -> const T& { return (config.*....*members); }};
}

/// The table is built for a fixed set of collectors, so the entry exists in every Config that the row is used
/// on.
template <auto member>
constexpr auto at_collector() {
  using T = std::remove_reference_t<decltype(std::declval<CollectorConfig&>().*member)>;
  return Member<T>{[](Config& config, const std::string& collector) -> T& {
                     return config.collectors.find(collector)->second.*member;
                   },
                   [](const Config& config, const std::string& collector) -> const T& {
                     return config.collectors.find(collector)->second.*member;
                   }};
}

template <typename T>
class SingleSetting final : public Setting {
 public:
  SingleSetting(ValueType<T>&& type, Member<T> member, std::string_view collector)
      : type_(std::move(type)), member_(member), collector_(collector) {}

  void clear(Config&) const override {}
  core::Result<void> add(Config& config, std::string_view text) const override {
    auto value = checked(type_, text);
    if (!value) return tl::unexpected(std::move(value).error());
    member_.of(config, collector_) = std::move(*value);
    return {};
  }
  std::vector<std::string> values(const Config& config) const override {
    return {type_.format(member_.of_const(config, collector_))};
  }

 private:
  ValueType<T> type_;
  Member<T> member_;
  std::string collector_;
};

template <typename T>
class ListSetting final : public Setting {
 public:
  ListSetting(ValueType<T>&& item, Member<std::vector<T>> member) : item_(std::move(item)), member_(member) {}

  void clear(Config& config) const override { member_.of(config, {}).clear(); }
  core::Result<void> add(Config& config, std::string_view text) const override {
    auto value = checked(item_, text);
    if (!value) return tl::unexpected(std::move(value).error());
    member_.of(config, {}).push_back(std::move(*value));
    return {};
  }
  std::vector<std::string> values(const Config& config) const override {
    std::vector<std::string> texts;
    for (const T& value : member_.of_const(config, {})) texts.push_back(item_.format(value));
    return texts;
  }

 private:
  ValueType<T> item_;
  Member<std::vector<T>> member_;
};

class OptionRows {
 public:
  /// A row for a single value.
  template <typename T>
  Option& add(std::string_view flag, std::string_view help, ValueType<T> type, Member<T> member,
              std::string_view collector = {}) {
    Option& made = add_blank(flag, help, type.placeholder, type.allowed, type.literal);
    if (std::is_same_v<T, bool>) made.shape = Option::Shape::toggle;
    made.setting = std::make_shared<SingleSetting<T>>(std::move(type), member, collector);
    return made;
  }

  /// A row for a list.
  template <typename T>
  void add(std::string_view flag, std::string_view help, ListType<T> type, Member<std::vector<T>> member) {
    Option& made = add_blank(flag, help, type.item.placeholder, type.item.allowed, type.item.literal);
    made.shape = Option::Shape::list;
    made.at_least = type.at_least;
    made.setting = std::make_shared<ListSetting<T>>(std::move(type.item), member);
  }

  std::vector<Option> take() && { return std::move(rows_); }

 private:
  /// Fills in what all rows have.
  Option& add_blank(std::string_view flag, std::string_view help, const std::string& placeholder,
                    const std::string& allowed, bool literal);

  std::vector<Option> rows_;
};

// Sections of option_table() that are long enough for a file of their own.

/// The section probe.
void add_probe_options(OptionRows& rows);

/// The section of one collector: what all have, then what is special to it.
void add_collector_options(OptionRows& rows, const CollectorChoice& choice);

}  // namespace rdma_exporter::config
