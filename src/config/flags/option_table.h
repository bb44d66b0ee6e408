// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/flags/value_type.h"
#include "config/message.h"
#include "core/result.h"

namespace rdma_exporter::config {

/// Where the value of an option is stored, and how it is parsed and printed.
class Setting {
 public:
  virtual ~Setting() = default;
  Setting() = default;
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  virtual void clear(Config& config) const = 0;  ///< empties a list before add()
  virtual core::Result<void> add(Config& config, std::string_view text) const = 0;  ///< sets, or appends
  virtual std::vector<std::string> values(const Config& config) const = 0;
};

/// One option without the type of its value; flags, file, help and printing use this.
struct Option {
  enum class Shape : unsigned char { single, list, toggle };

  std::string flag;  ///< without the leading dashes
  std::string key;   ///< in the file; dots are levels
  std::string help;
  std::string placeholder;
  std::string allowed;
  Shape shape = Shape::single;
  bool literal = false;
  std::size_t at_least = 0;  ///< minimum number of values of a list

  std::shared_ptr<const Setting> setting;

  void clear(Config& config) const { setting->clear(config); }
  core::Result<void> add(Config& config, std::string_view text) const { return setting->add(config, text); }
  std::vector<std::string> values(const Config& config) const { return setting->values(config); }
};

/// The file's key for a flag: "web.listen-address" -> "web.listen_address".
std::string key_of_flag(std::string_view flag);

/// Parses `text`; the error says what is wrong and what is allowed.
template <typename T>
core::Result<T> checked(const ValueType<T>& type, std::string_view text) {
  auto value = type.parse(text);
  if (value) return value;
  return core::config_error(in_quotes(text) + " " + value.error().context.text() + " (" + type.allowed + ")");
}

/// Every option of the daemon, in the order of help and printing; each collector adds two rows at the end.
std::vector<Option> option_table(std::span<const CollectorChoice> collectors);

/// The configuration without a file or flags.
Config default_config(std::span<const CollectorChoice> collectors);

}  // namespace rdma_exporter::config
