// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "probe/agent/workers.h"
#include "probe/rdma/verbs/cq.h"
#include "probe/rdma/verbs/device.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// The thread of a device: polls its completions, fires what is due, passes on its events. Nothing on it
/// blocks. It sleeps until a completion, an event, a task or the next due time, except while somebody asked
/// it to spin: a sleep adds an interrupt and a wake-up to what is measured. While it spins it does nothing
/// but poll, so that what one session measures has no part in it of what others do. It runs on the processors
/// of the device's NUMA node, as far as the process may use them.
class DeviceLoop {
 public:
  /// When a completion was seen.
  struct Seen {
    Clock::time_point time;   ///< right after the poll
    Clock::time_point sleep;  ///< end of the last sleep before it
    Clock::time_point empty;  ///< time of the last poll that found nothing
  };

  /// One end of a connection. Called on the loop's thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// `kind`: the one passed to work_id().
    virtual void completion(std::uint8_t kind, const WorkCompletion& completion, const Seen& seen) = 0;
  };

  /// Work that runs on the loop. Called on its thread.
  struct Client {
    /// Does part of what is due, so that completions are seen in between. Returns the next due time, which
    /// may be now.
    std::function<std::optional<Clock::time_point>(Clock::time_point now)> advance;
    std::function<void(const DeviceEvent&)> event;
  };

  /// `depth`: maximum number of outstanding completions of the device.
  static core::Result<std::unique_ptr<DeviceLoop>> make(std::shared_ptr<VerbsDevice> device, unsigned depth);
  /// Stops the thread; drops remaining tasks.
  ~DeviceLoop();

  /// Call before start().
  void add(Client client) { clients_.push_back(std::move(client)); }
  void start();

  /// Any thread: runs `task` on the loop's thread.
  void post(std::function<void()> task);
  /// Any thread: a number that is unique among the connections of this loop.
  std::uint64_t new_serial() { return ++last_serial_; }
  static std::uint64_t work_id(std::uint64_t serial, std::uint8_t kind) { return serial << 8 | kind; }

  /// The loop's thread. Completions of serials that are not attached belong to ended connections and are
  /// dropped.
  void attach(std::uint64_t serial, Handler& handler) { handlers_[serial] = &handler; }
  void detach(std::uint64_t serial) { handlers_.erase(serial); }
  /// Spins until `time`, or until the same `spinner` stops it. Only the last caller counts.
  void spin(const void* spinner, Clock::time_point until) {
    spinner_ = spinner;
    spin_until_ = until;
  }
  void end_spin(const void* spinner) {
    if (spinner_ == spinner) spin_until_ = {};
  }

  const std::shared_ptr<VerbsDevice>& device() const { return device_; }
  /// Expires when the loop is destroyed. A weak_ptr to the loop itself would expire before its destructor
  /// starts.
  std::weak_ptr<const void> life() const { return life_; }
  const std::shared_ptr<VerbsCq>& cq() const { return cq_; }
  /// What workers do for the device; and connections that wait for the peer inside the kernel, as rdma_cm's
  /// may: Soft-iWARP for minutes.
  const Workers::Owner& owner() const { return owner_; }
  const Workers::Owner& managed_owner() const { return managed_owner_; }
  /// Any thread; blocks. The queue whose completions are stamped by the adapter's clock, which is made when
  /// it is first asked for; null: there is none, or its clock proved wrong.
  std::shared_ptr<VerbsCq> stamped_cq();
  /// Any thread: whether to call stamped_cq().
  bool has_clock() const { return has_clock_ && !distrusted_; }
  /// The loop's thread: the adapter's clock is wrong.
  void distrust_clock();

 private:
  DeviceLoop(std::shared_ptr<VerbsDevice> device, std::shared_ptr<VerbsCq> cq, unsigned depth, int wake_fd);
  void run();
  bool run_tasks();
  bool poll_completions();
  bool poll(VerbsCq& cq);
  void sleep(std::optional<Clock::time_point> until);
  void take_events();
  void die(const DeviceEvent& why);

  const std::shared_ptr<const void> life_ = std::make_shared<char>();  // first: destroyed last
  std::shared_ptr<VerbsDevice> device_;
  const std::shared_ptr<VerbsCq> cq_;
  const unsigned depth_;
  const Workers::Owner owner_ = Workers::new_owner();
  const Workers::Owner managed_owner_ = Workers::new_owner();
  const bool has_clock_;
  int wake_fd_;
  std::vector<Client> clients_;
  std::unordered_map<std::uint64_t, Handler*> handlers_;
  const void* spinner_ = nullptr;
  Clock::time_point spin_until_{};
  Clock::time_point slept_{};
  Clock::time_point empty_{};
  bool dead_ = false;                          // the device no longer answers
  std::vector<std::shared_ptr<VerbsCq>> cqs_;  // the polled queues: cq_, and stamped_ once it exists

  std::mutex stamped_mutex_;
  std::shared_ptr<VerbsCq> stamped_;
  std::atomic<bool> distrusted_{false};

  std::atomic<std::uint64_t> last_serial_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_tasks_{false};
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  std::thread thread_;
};

}  // namespace rdma_exporter::probe
