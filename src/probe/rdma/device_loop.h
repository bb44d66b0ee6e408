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
#include "probe/rdma/verbs_cq.h"
#include "probe/rdma/verbs_device.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// The thread of a device: polls its completions, fires what is due, passes on its events. Nothing on it
/// blocks. It sleeps until a completion, an event, a task or the next due time, except while somebody asked
/// it to spin: a sleep adds an interrupt and a wake-up to what is measured.
class DeviceLoop {
 public:
  /// A connection's end. Called on the loop's thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// `kind`: as given to work_id(). `seen`: right after the poll; `sleep`: end of the last sleep before it.
    virtual void completion(std::uint8_t kind, const WorkCompletion& completion, Clock::time_point seen,
                            Clock::time_point sleep) = 0;
  };

  /// What runs on the loop. Called on its thread.
  struct Client {
    std::function<std::optional<Clock::time_point>(Clock::time_point now)>
        advance;  ///< what is due; next due time
    std::function<void(const DeviceEvent&)> event;
  };

  /// `depth`: completions that can be outstanding on the device.
  static core::Result<std::unique_ptr<DeviceLoop>> make(std::shared_ptr<VerbsDevice> device, unsigned depth);
  /// Stops the thread. Tasks that are left are dropped.
  ~DeviceLoop();

  /// Before start().
  void add(Client client) { clients_.push_back(std::move(client)); }
  void start();

  /// Any thread: runs `task` on the loop's.
  void post(std::function<void()> task);
  /// Any thread: a number that no other connection of this loop has had.
  std::uint64_t new_serial() { return ++last_serial_; }
  static std::uint64_t work_id(std::uint64_t serial, std::uint8_t kind) { return serial << 8 | kind; }

  /// The loop's thread. Completions of serials that are not attached are dropped: of a connection that has
  /// ended.
  void attach(std::uint64_t serial, Handler& handler) { handlers_[serial] = &handler; }
  void detach(std::uint64_t serial) { handlers_.erase(serial); }
  void spin_until(Clock::time_point time) { spin_until_ = std::max(spin_until_, time); }

  const std::shared_ptr<VerbsDevice>& device() const { return device_; }
  /// Expires when this is gone. A weak_ptr to the loop itself expires before its destructor has begun.
  std::weak_ptr<const void> life() const { return life_; }
  const std::shared_ptr<VerbsCq>& cq() const { return cq_; }
  /// Any thread; blocks. The queue whose completions are stamped by the adapter's clock, which is made when
  /// it is first asked for; null: there is none, or its clock proved wrong.
  std::shared_ptr<VerbsCq> stamped_cq();
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

  const std::shared_ptr<const void> life_ = std::make_shared<char>();  // first: goes last
  std::shared_ptr<VerbsDevice> device_;
  const std::shared_ptr<VerbsCq> cq_;
  const unsigned depth_;
  int wake_fd_;
  std::vector<Client> clients_;
  std::unordered_map<std::uint64_t, Handler*> handlers_;
  Clock::time_point spin_until_{};
  Clock::time_point slept_{};
  bool dead_ = false;                          // the device answers no more
  std::vector<std::shared_ptr<VerbsCq>> cqs_;  // that are polled: cq_, and stamped_ once it is there

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
