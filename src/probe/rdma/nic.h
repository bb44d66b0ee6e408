// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "probe/agent/options.h"
#include "probe/mesh/hostmesh.h"
#include "probe/rdma/connection/local_qp_pairs.h"
#include "probe/rdma/device_loop.h"
#include "probe/session/prober.h"
#include "probe/session/schedule.h"
#include "task/token_bucket.h"

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

/// Counts about a device. Any thread.
struct NicStats {
  std::string device;
  std::shared_ptr<QpCounts> queue_pairs = std::make_shared<QpCounts>();
  std::atomic<std::uint64_t> echo_replies{0};
  std::atomic<unsigned> inbound_sessions{0};
  std::atomic<double> rate_multiplier{1.0};
  EventCounts events{};
};

/// The probers of a device, on its loop.
class ProberSet {
 public:
  ProberSet(const Limits& limits, std::shared_ptr<NicStats> stats);

  /// `make` receives a function that the prober must call when its schedule has changed.
  void add(const ProberKey& key, double rate,
           const std::function<std::unique_ptr<Prober>(std::function<void()> changed)>& make);
  void remove(const ProberKey& key);
  void clear();
  const Random& random() const { return random_; }

  /// Lets one prober do its due work.
  std::optional<Clock::time_point> advance(Clock::time_point now);
  void on_event(const DeviceEvent& event);

 private:
  struct Entry;
  using Queue = std::multimap<Clock::time_point, Entry*>;
  struct Entry {
    std::unique_ptr<Prober> prober;
    double rate = 0;
    Queue::iterator place;  // in queue_, or its end
  };
  void enqueue(Entry& entry, std::optional<Clock::time_point> time);
  void balance();
  void look_at_cost(Clock::time_point now);

  const Limits limits_;
  std::shared_ptr<NicStats> stats_;
  std::minstd_rand generator_;
  const Random random_;
  task::TokenBucket connects_;
  CpuWatchdog watchdog_;
  double stretch_ = 1;
  std::map<ProberKey, Entry> probers_;
  Queue queue_;  // ordered by due time
};

/// An open device with its loop and what runs there. Thread-safe.
class Nic {
 public:
  /// Blocks. `on_fatal` is called once, on the loop, if the device is being removed or has become unusable.
  static core::Result<std::shared_ptr<Nic>> open(const std::string& name, const Limits& limits,
                                                 Workers& workers, std::function<void()> on_fatal);

  const std::string& name() const { return stats_->device; }
  const std::shared_ptr<NicStats>& stats() const { return stats_; }
  const std::shared_ptr<DeviceLoop>& loop() const { return loop_; }
  bool iwarp() const { return loop_->device()->iwarp(); }
  /// Half of the queue pairs, for the sessions of either role.
  unsigned max_per_role() const { return limits_.queue_pairs / 2; }
  /// Ports that are active now. Blocks.
  std::vector<std::uint8_t> active_ports() const;
  /// The same, with their addresses. `default_route`: index of the interface of the default route; 0: none.
  /// Blocks.
  std::vector<OwnPort> own_ports(std::uint32_t default_route) const;

  void add(asio::io_context& io, ProberSpec spec);
  void remove(const ProberKey& key);
  /// Stops all probers.
  void stop();

 private:
  Nic(std::shared_ptr<DeviceLoop> loop, std::shared_ptr<NicStats> stats, const Limits& limits,
      Workers& workers);

  std::shared_ptr<DeviceLoop> loop_;
  std::shared_ptr<NicStats> stats_;
  const Limits limits_;
  Workers& workers_;
  std::shared_ptr<LocalQpPairs> ends_;
  std::shared_ptr<ProberSet> probers_;
};

}  // namespace rdma_exporter::probe
