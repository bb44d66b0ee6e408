// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace rdma_exporter::core {

/// Returns the one shared copy of a value, never null: a hundred devices with the same counters would
/// otherwise keep a hundred copies of their names. For types with few different values. Thread-safe. Values
/// that are no longer used are forgotten.
template <typename T>
std::shared_ptr<const T> intern(T value) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const T>> values;
  const std::lock_guard lock(mutex);
  std::erase_if(values, [](const auto& known) { return known.expired(); });
  for (const auto& weak : values)
    if (std::shared_ptr<const T> known = weak.lock(); known && *known == value) return known;
  auto made = std::make_shared<const T>(std::move(value));
  values.emplace_back(made);
  return made;
}

/// A list of names, shared: see intern().
using Names = std::shared_ptr<const std::vector<std::string>>;

}  // namespace rdma_exporter::core
