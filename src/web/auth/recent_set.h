// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <list>
#include <map>

#include "web/auth/keyed_hash.h"

namespace rdma_exporter::web {

/// The digests that were added or looked up most recently.
class RecentSet {
 public:
  explicit RecentSet(std::size_t capacity) : capacity_(capacity) {}

  void add(const Digest& digest) {
    if (contains(digest)) return;
    order_.push_front(digest);
    places_.emplace(digest, order_.begin());
    if (order_.size() <= capacity_) return;
    places_.erase(order_.back());
    order_.pop_back();
  }

  /// Looks it up and makes it the most recent one.
  bool contains(const Digest& digest) {
    const auto place = places_.find(digest);
    if (place == places_.end()) return false;
    order_.splice(order_.begin(), order_, place->second);
    return true;
  }

  std::size_t size() const { return order_.size(); }

 private:
  std::size_t capacity_;
  std::list<Digest> order_;
  std::map<Digest, std::list<Digest>::iterator> places_;
};

}  // namespace rdma_exporter::web
