// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/result.h"
#include "probe/rdma/verbs/adapter_clock.h"
#include "probe/rdma/verbs/device.h"

struct ibv_comp_channel;
struct ibv_cq;
struct ibv_cq_ex;

namespace rdma_exporter::probe {

/// One completion. After an error only these members are valid, except `bytes`.
struct WorkCompletion {
  std::uint64_t id = 0;            ///< the one passed when the work was posted
  int status = 0;                  ///< as enum ibv_wc_status
  std::uint32_t vendor_error = 0;  ///< for the log: the adapter's own word for it
  std::uint32_t bytes = 0;         ///< received; not set by a queue with timestamps
  std::uint64_t stamp = 0;         ///< timestamp, after success; set by a queue with timestamps
};

/// Takes the available completions, at most `to.size()`, from a queue that was created with timestamps. An
/// errno on failure.
core::Result<std::size_t> poll_stamped(ibv_cq_ex& cq, std::span<WorkCompletion> to);

/// A completion queue of a device, with a channel for sleeping. Used by one thread.
class VerbsCq {
 public:
  /// `depth`: maximum number of outstanding completions; an overrun kills every queue pair of the queue.
  static core::Result<std::unique_ptr<VerbsCq>> make(std::shared_ptr<VerbsDevice> device, unsigned depth);
  /// A queue whose completions carry the adapter's timestamps. EOPNOTSUPP: the device has no usable clock.
  static core::Result<std::unique_ptr<VerbsCq>> make_stamped(std::shared_ptr<VerbsDevice> device,
                                                             unsigned depth);
  ~VerbsCq();
  VerbsCq(const VerbsCq&) = delete;
  VerbsCq& operator=(const VerbsCq&) = delete;

  /// Takes the available completions, at most `to.size()`. An errno on failure: the device is gone.
  core::Result<std::size_t> poll(std::span<WorkCompletion> to);
  /// Makes fd() readable at the next completion. Poll once more before sleeping, because one may have arrived
  /// in between.
  core::Result<void> arm();
  int fd() const;
  /// Call this after fd() became readable.
  void take_events();

  /// Set if the queue has timestamps.
  const std::optional<AdapterClock>& clock() const { return clock_; }
  ibv_cq* get() const { return cq_; }

 private:
  explicit VerbsCq(std::shared_ptr<VerbsDevice> device) : device_(std::move(device)) {}
  core::Result<void> open_channel();

  std::shared_ptr<VerbsDevice> device_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_cq_ex* stamped_ = nullptr;  // the same queue, if it has timestamps
  std::optional<AdapterClock> clock_;
  unsigned unacknowledged_ = 0;
};

}  // namespace rdma_exporter::probe
