// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/parse.h"

// What the tests of the configuration share: two collectors, and short ways in.
namespace rdma_exporter::config {

inline constexpr std::array kCollectors{CollectorChoice{"device", true, "Facts about each device."},
                                        CollectorChoice{"hw_counters", false, "Counters of the driver."}};

/// Parses a command line given without the program's name.
inline core::Result<Parsed> parse_words(std::vector<const char*> words) {
  words.insert(words.begin(), "rdma_exporter");
  return parse(words, kCollectors);
}

inline core::Result<Config> load_yaml(std::string_view text) { return load(text, "x.yml", kCollectors); }

/// The message a person gets, or "accepted".
template <typename T>
std::string message(const core::Result<T>& result) {
  return result ? "accepted" : core::to_string(result.error());
}

}  // namespace rdma_exporter::config
