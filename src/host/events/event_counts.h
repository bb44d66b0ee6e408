// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "host/verbs/verbs.h"

namespace rdma_exporter::host {

/// Sources of kernel notifications.
enum class EventSource : std::uint8_t {
  uevent,   ///< devices that come and go
  monitor,  ///< the same from RDMA netlink, and network interfaces of ports; Linux 6.12
  link,     ///< changes of network interfaces
  async,    ///< asynchronous events of verbs devices
};
inline constexpr std::array<std::string_view, 4> kEventSourceNames{"uevent", "monitor", "link", "async"};

/// What the event sources have reported. Written by the thread that reads them, read by collectors.
/// Thread-safe.
class EventCounts {
 public:
  using Clock = std::chrono::steady_clock;

  struct Source {
    std::optional<bool> up;      ///< nullopt: this kernel does not have it, or nothing was tried yet
    core::Error error;           ///< why it is not up
    std::uint64_t received = 0;  ///< messages that concern RDMA devices or network interfaces
    std::uint64_t lost = 0;      ///< times that messages were lost or could not be read
  };
  Source source(EventSource source) const;
  void set_up(EventSource source);
  void set_down(EventSource source, const core::Error& error);
  void received(EventSource source, std::uint64_t messages = 1);
  void lost(EventSource source);

  /// Creates rows with 0 for the events that these ports can have, so that the first event is an increase.
  /// The counts of an earlier registration with the same name continue.
  void listen(const std::string& device, std::span<const std::uint32_t> ports, bool infiniband);
  void count(const std::string& device, const AsyncEvent& event);

  /// Keeps the rows of this device until release(). Rows that nobody keeps are those of a device that is
  /// gone.
  void adopt(const std::string& device);
  void release(const std::string& device, Clock::time_point now);

  /// `labels` is a rendered block: device, port (empty for events of the whole device), event.
  using OnRow = std::function<void(const std::string& labels, std::uint64_t count)>;
  void for_each_of(const std::string& device, const OnRow& on_row) const;
  /// The rows of devices that are gone; drops those that have been gone for `forget_after` first.
  void for_each_gone(std::chrono::seconds forget_after, Clock::time_point now, const OnRow& on_row);

 private:
  struct Row {
    std::uint32_t port;
    AsyncEventType type;
    std::string labels;
    std::uint64_t count = 0;
  };
  struct Device {
    unsigned owners = 0;
    Clock::time_point released;
    std::vector<std::uint32_t> ports;
    std::vector<Row> rows;
  };

  static Row& row(Device& device, const std::string& name, const AsyncEvent& event);

  mutable std::mutex mutex_;
  std::array<Source, kEventSourceNames.size()> sources_;
  std::map<std::string, Device> devices_;
};

}  // namespace rdma_exporter::host
