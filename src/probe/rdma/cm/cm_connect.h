// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "probe/rdma/connection/rc_end.h"

// Connecting the queue pairs of an end through the kernel's connection manager. Who may connect has been
// decided on the side channel: it hands over where to ask and the word to say. Everything here blocks: on a
// worker.
namespace rdma_exporter::probe {

/// Longest that a prober waits for one connection. The kernel's own time is a constant, 15 requests that are
/// 4 s apart, and cannot be set.
inline constexpr std::chrono::seconds kCmTime{3};

/// The prober's side: connects each queue pair of `end` to the peer's within `time`.
SetUp<void> cm_connect_end(RcEnd& end, const VerbsDevice& device, const PathEnd& peer,
                           const CmAddress& cm_address, const PathSettings& path,
                           std::chrono::milliseconds time = kCmTime);

/// The responder's side: a port of its own for one session, open until both queue pairs are connected. By one
/// thread at a time.
class CmListener {
 public:
  static SetUp<std::shared_ptr<CmListener>> open(std::shared_ptr<RcEnd> end, const VerbsDevice& device,
                                                 const PathSettings& path);

  const CmAddress& cm_address() const { return cm_address_; }
  int fd() const { return end_->cm->fd(); }  ///< readable when somebody asks
  /// Answers those who have asked. A request without the word, or for a queue pair that is connected already,
  /// is rejected.
  void answer();
  /// Nobody else is waited for.
  bool done() const { return waiting_.empty(); }
  /// Gives up waiting; what is connected stays.
  void close();

 private:
  CmListener(std::shared_ptr<RcEnd> end, const PathSettings& path) : end_(std::move(end)), path_(path) {}
  bool admit(const CmEvent& request);

  std::shared_ptr<RcEnd> end_;
  PathSettings path_;
  CmAddress cm_address_;
  std::optional<CmChannel::Id> id_;
  std::vector<VerbsQp*> waiting_;  ///< of end_
};

}  // namespace rdma_exporter::probe
