// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "probe/rdma/connection/qp_pair.h"

// Connects the queue pairs of an end through the kernel's connection manager. The control connection has
// already decided who may connect, and provides the address and the token. Everything here blocks: call it on
// a worker.
namespace rdma_exporter::probe {

/// How long a prober waits for one connection. The kernel's own timeout is a constant, 15 requests at
/// intervals of 4 s, and cannot be changed.
inline constexpr std::chrono::seconds kCmTime{3};

/// For the prober: connects each queue pair of `end` to the peer's within `time`.
SetUp<void> cm_connect_pair(QpPair& pair, const VerbsDevice& device, const QpPairAddress& peer,
                            const CmAddress& cm_address, const PathSettings& path,
                            std::chrono::milliseconds time = kCmTime);

/// For the responder: a port for one session, open until both queue pairs are connected. One thread at a
/// time.
class CmListener {
 public:
  static SetUp<std::shared_ptr<CmListener>> open(std::shared_ptr<QpPair> pair, const VerbsDevice& device,
                                                 const PathSettings& path);

  const CmAddress& cm_address() const { return cm_address_; }
  int fd() const { return pair_->cm->fd(); }  ///< readable if there is a request
  /// Answers pending requests. Rejects requests without the token and those for a queue pair that is already
  /// connected.
  void answer();
  /// True if all queue pairs are connected.
  bool done() const { return waiting_.empty(); }
  /// Stops waiting; existing connections stay.
  void close();

 private:
  CmListener(std::shared_ptr<QpPair> pair, const PathSettings& path) : pair_(std::move(pair)), path_(path) {}
  bool admit(const CmEvent& request);

  std::shared_ptr<QpPair> pair_;
  PathSettings path_;
  CmAddress cm_address_;
  std::optional<CmChannel::Id> id_;
  std::vector<VerbsQp*> waiting_;  ///< of end_
};

}  // namespace rdma_exporter::probe
