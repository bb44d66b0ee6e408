// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/names.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace rdma_exporter::core {

Names intern(std::vector<std::string> names) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const std::vector<std::string>>> lists;
  const std::lock_guard lock(mutex);
  std::erase_if(lists, [](const auto& list) { return list.expired(); });
  for (const auto& list : lists)
    if (Names known = list.lock(); known && *known == names) return known;
  names.shrink_to_fit();
  auto made = std::make_shared<const std::vector<std::string>>(std::move(names));
  lists.emplace_back(made);
  return made;
}

}  // namespace rdma_exporter::core
