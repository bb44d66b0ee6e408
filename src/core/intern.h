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
/// otherwise keep a hundred copies of their names. For types with few different values, or values that are
/// asked for several times in a row. Thread-safe. Values that are no longer used are forgotten.
template <typename T>
std::shared_ptr<const T> intern(T value) {
  // Never destroyed: a thread whose device hangs may return from the kernel when the process ends.
  static auto& mutex = *new std::mutex;
  static auto& values = *new std::vector<std::weak_ptr<const T>>;
  const std::lock_guard lock(mutex);
  // Whoever asks for a value often asks for it several times in a row.
  for (auto weak = values.rbegin(); weak != values.rend(); ++weak)
    if (std::shared_ptr<const T> known = weak->lock(); known && *known == value) return known;
  std::erase_if(values, [](const auto& known) { return known.expired(); });
  auto made = std::make_shared<const T>(std::move(value));
  values.emplace_back(made);
  return made;
}

/// A text, and a list of names, shared: see intern().
using SharedText = std::shared_ptr<const std::string>;
using Names = std::shared_ptr<const std::vector<std::string>>;

}  // namespace rdma_exporter::core
