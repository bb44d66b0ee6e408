// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

#include "web/auth/credentials.h"

namespace rdma_exporter::web {

/// The values of the most recently used keys.
template <typename Key, typename Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : capacity_(capacity) {}

  /// Returns the value and makes it the most recent one; a default value if the key is not known, or no
  /// longer.
  Value& operator[](const Key& key) {
    if (const auto known = places_.find(key); known != places_.end()) {
      order_.splice(order_.begin(), order_, known->second);
      return order_.front().second;
    }
    std::list<Entry> fresh;
    fresh.emplace_front(key, Value());
    places_.emplace(key, fresh.begin());
    order_.splice(order_.begin(), fresh);
    if (order_.size() > capacity_) forget(Key(order_.back().first));
    return order_.front().second;
  }

  /// Null if the key is not known. Changes nothing.
  const Value* find(const Key& key) const {
    const auto known = places_.find(key);
    return known == places_.end() ? nullptr : &known->second->second;
  }

  void forget(const Key& key) {
    const auto known = places_.find(key);
    if (known == places_.end()) return;
    order_.erase(known->second);
    places_.erase(known);
  }

  std::size_t size() const { return order_.size(); }

 private:
  using Entry = std::pair<Key, Value>;

  std::size_t capacity_;
  std::list<Entry> order_;
  std::map<Key, typename std::list<Entry>::iterator> places_;
};

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
