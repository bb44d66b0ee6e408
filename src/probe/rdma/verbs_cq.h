// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/result.h"
#include "probe/rdma/adapter_clock.h"
#include "probe/rdma/verbs_device.h"

struct ibv_comp_channel;
struct ibv_cq;
struct ibv_cq_ex;

namespace rdma_exporter::probe {

/// One completion. After an error only these members mean anything, and `bytes` does not.
struct WorkCompletion {
  std::uint64_t id = 0;            ///< as given when the work was posted
  int status = 0;                  ///< as enum ibv_wc_status
  std::uint32_t vendor_error = 0;  ///< for the log: the adapter's own word for it
  std::uint32_t bytes = 0;         ///< received; not by a stamped queue
  std::uint64_t stamp = 0;         ///< of the adapter's clock, after success; by a stamped queue
};

/// Takes what is there, at most `to.size()`, from a queue that was made with time stamps. An errno value on
/// failure.
core::Result<std::size_t> poll_stamped(ibv_cq_ex& cq, std::span<WorkCompletion> to);

/// A completion queue of a device, with a channel to sleep on. Used by one thread.
class VerbsCq {
 public:
  /// `depth`: most completions that can be outstanding; an overrun kills every queue pair on it.
  static core::Result<std::unique_ptr<VerbsCq>> make(std::shared_ptr<VerbsDevice> device, unsigned depth);
  /// One whose completions are stamped by the adapter's clock. EOPNOTSUPP: the device has none that is of
  /// use.
  static core::Result<std::unique_ptr<VerbsCq>> make_stamped(std::shared_ptr<VerbsDevice> device,
                                                             unsigned depth);
  ~VerbsCq();
  VerbsCq(const VerbsCq&) = delete;
  VerbsCq& operator=(const VerbsCq&) = delete;

  /// Takes what is there, at most `to.size()`. An errno value on failure: the device is gone.
  core::Result<std::size_t> poll(std::span<WorkCompletion> to);
  /// Makes fd() readable at the next completion. Poll once more before sleeping: one may have come in
  /// between.
  core::Result<void> arm();
  int fd() const;
  /// After fd() was readable.
  void take_events();

  /// Of a stamped queue.
  const std::optional<AdapterClock>& clock() const { return clock_; }
  ibv_cq* get() const { return cq_; }

 private:
  explicit VerbsCq(std::shared_ptr<VerbsDevice> device) : device_(std::move(device)) {}
  core::Result<void> open_channel();

  std::shared_ptr<VerbsDevice> device_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_cq_ex* stamped_ = nullptr;  // the same, of a stamped queue
  std::optional<AdapterClock> clock_;
  unsigned unacknowledged_ = 0;
};

}  // namespace rdma_exporter::probe
