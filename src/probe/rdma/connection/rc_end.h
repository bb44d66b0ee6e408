// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>

#include "core/result.h"
#include "probe/channel/frame.h"
#include "probe/rdma/cm/verbs_cm.h"
#include "probe/rdma/device_loop.h"
#include "probe/rdma/gid_choice.h"
#include "probe/rdma/verbs_qp.h"
#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// What an end is to be made of.
struct EndRequest {
  bool responder = false;
  bool one_sided = true;    ///< with a queue pair for one-sided operations
  bool stamps = false;      ///< that one's completions stamped by the adapter's clock, if it has one
  bool echo = true;         ///< with one for echoes
  std::uint8_t remote = 0;  ///< responder: operations that the peer may do, kGrant bits
  std::uint8_t port = 1;
  TransportChoice transport = TransportChoice::automatic;
  GidWish gid;
};

/// One end of a connection: its queue pairs and what the peer has to know of them. Making, connecting and
/// destroying it block: on a worker.
struct RcEnd {
  std::uint64_t serial = 0;
  PathEnd local;
  std::uint8_t port = 1;
  std::uint32_t gid_index = 0;
  std::uint32_t netdev = 0;  ///< that has the address; 0: not known
  Transport transport = Transport::verbs;
  std::unique_ptr<CmChannel> cm;       ///< once it was used; goes after the queue pairs
  std::unique_ptr<VerbsQp> one_sided;  ///< may be empty
  std::unique_ptr<VerbsQp> echo;       ///< may be empty
  std::shared_ptr<void> counted;       ///< gone when the queue pairs are

  /// That one-sided operations are measured by.
  RttClock clock() const { return one_sided && one_sided->clock() ? RttClock::nic : RttClock::host; }
};

/// Why an end is not there, and at which step.
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
inline constexpr std::uint8_t kFirstReadWork = 3;  ///< of a pair
inline constexpr std::uint8_t kSecondReadWork = 4;
inline constexpr std::uint8_t kReceiveWork = 16;  ///< and the slot

/// Looks the address up and makes the queue pairs, with receives posted.
SetUp<std::shared_ptr<RcEnd>> make_end(DeviceLoop& loop, const EndRequest& request);

/// Connects them to the peer's by verbs. `path`: port and GID index are filled in.
SetUp<void> connect_end(RcEnd& end, const PathEnd& peer, PathSettings path);

}  // namespace rdma_exporter::probe
