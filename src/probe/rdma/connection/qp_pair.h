// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "core/result.h"
#include "probe/channel/frame.h"
#include "probe/rdma/cm/verbs_cm.h"
#include "probe/rdma/device_loop.h"
#include "probe/rdma/gid_choice.h"
#include "probe/rdma/verbs/qp.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// How to create an end.
struct QpPairRequest {
  bool responder = false;
  bool one_sided = true;    ///< with a queue pair for one-sided operations
  bool stamps = false;      ///< that one's completions stamped by the adapter's clock, if it has one
  bool echo = true;         ///< with one for echoes
  std::uint8_t remote = 0;  ///< responder: operations that the peer may do, kGrant bits
  std::uint8_t port = 1;
  TransportChoice transport = TransportChoice::automatic;
  GidWish gid;
};

/// One end of a connection: its queue pairs, and what the peer needs to know about them. Creating, connecting
/// and destroying it blocks: do so on a worker.
struct QpPair {
  std::uint64_t serial = 0;
  QpPairAddress local;
  std::uint8_t port = 1;
  std::uint32_t gid_index = 0;
  std::uint32_t netdev = 0;  ///< index of the interface that has the address; 0: unknown
  Transport transport = Transport::verbs;
  std::unique_ptr<CmChannel> cm;       ///< set if it was used; destroyed after the queue pairs
  std::unique_ptr<VerbsQp> one_sided;  ///< may be empty
  std::unique_ptr<VerbsQp> echo;       ///< may be empty
  std::shared_ptr<void> counted;       ///< released with the queue pairs

  /// The clock that measures one-sided operations.
  RttClock clock() const { return one_sided && one_sided->clock() ? RttClock::nic : RttClock::host; }
};

/// Why an end could not be created, and at which step.
struct SetUpError {
  Stage stage{};
  core::Error error;
  Failure failure() const { return {stage, core::reason(error)}; }
};
template <typename T>
using SetUp = tl::expected<T, SetUpError>;

/// Kinds of work, for DeviceLoop::work_id().
inline constexpr std::uint8_t kWriteWork = 0;
inline constexpr std::uint8_t kReadWork = 1;
inline constexpr std::uint8_t kSendWork = 2;
inline constexpr std::uint8_t kFirstReadWork = 3;  ///< the first of a pair
inline constexpr std::uint8_t kSecondReadWork = 4;
inline constexpr std::uint8_t kReceiveWork = 16;  ///< plus the slot

/// Looks up the address and creates the queue pairs, with receives posted.
SetUp<std::shared_ptr<QpPair>> make_qp_pair(DeviceLoop& loop, const QpPairRequest& request);

/// Connects them to the peer's by verbs. `path`: port and GID index are filled in.
SetUp<void> connect_qp_pair(QpPair& pair, const QpPairAddress& peer, PathSettings path);

}  // namespace rdma_exporter::probe
