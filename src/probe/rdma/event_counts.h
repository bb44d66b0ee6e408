// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

namespace rdma_exporter::probe {

/// Asynchronous events of a device by name (ibv_get_async_event(3)). Thread-safe.
class EventCounts {
 public:
  /// `name`: a string literal.
  void count(std::string_view name) {
    const std::lock_guard lock(mutex_);
    ++counts_[name];
  }
  std::map<std::string_view, std::uint64_t> get() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  mutable std::mutex mutex_;
  // Events worth an alert are present from the first scrape on, so that the first one is an increase.
  std::map<std::string_view, std::uint64_t> counts_{
      {"CQ_ERR", 0}, {"DEVICE_FATAL", 0}, {"PORT_ERR", 0}, {"QP_FATAL", 0}};
};

}  // namespace rdma_exporter::probe
