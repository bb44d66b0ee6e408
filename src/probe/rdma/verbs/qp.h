// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/result.h"
#include "probe/channel/frame.h"
#include "probe/rdma/cm/verbs_cm.h"
#include "probe/rdma/connection/rc_timing.h"
#include "probe/rdma/verbs/cq.h"
#include "probe/rdma/verbs/device.h"
#include "probe/session/echo_message.h"

struct ibv_mr;
struct ibv_qp;

namespace rdma_exporter::probe {

/// How the packets of an end are sent.
struct PathSettings {
  std::uint8_t port = 1;
  std::uint32_t gid_index = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  std::uint32_t flow_label = 0;
  RcTiming timing{};
};

/// A reliably connected queue pair: RESET -> INIT when created, RTR -> RTS by connect(), ERR before it is
/// destroyed. It is never used again after an error. No memory is registered for remote access; `remote` says
/// which operations of 0 bytes the peer may perform, as kGrant bits. post_*() may be called by one thread.
/// Everything else may block; connect() for a second or more, while the kernel resolves the neighbour.
class VerbsQp {
 public:
  enum class Kind : unsigned char {
    requester,       ///< posts one-sided operations
    responder,       ///< accepts them
    echo,            ///< sends and receives for a prober
    echo_responder,  ///< the same for a responder: peers send to it
  };

  static core::Result<std::unique_ptr<VerbsQp>> make(std::shared_ptr<VerbsDevice> device,
                                                     std::shared_ptr<VerbsCq> cq, Kind kind,
                                                     std::uint8_t port, std::uint8_t remote);
  ~VerbsQp();
  VerbsQp(const VerbsQp&) = delete;
  VerbsQp& operator=(const VerbsQp&) = delete;

  QpNumbers numbers() const;
  /// The clock of its completions' timestamps, if they have any.
  const std::optional<AdapterClock>& clock() const { return cq_->clock(); }
  /// Connects it to the queue pair `end` of `peer`.
  core::Result<void> connect(const QpPairAddress& peer, const QpNumbers& end, const PathSettings& path);
  /// Connects it along the path that the connection manager found for `id`, with the class, label and timing
  /// of `path`.
  core::Result<void> connect_managed(CmChannel& cm, CmChannel::Id id, const PathSettings& path);

  /// Returns 0 or an errno. The completion has `id`.
  int post_one_sided(bool read, std::uint64_t id);
  /// Posts two READs with one doorbell; the second starts when the first ends.
  int post_read_pair(std::uint64_t first_id, std::uint64_t second_id);
  int post_send(const EchoBytes& bytes, std::uint64_t id);
  /// Gives receive buffer `slot` (0 .. kReceives - 1) to the adapter.
  int post_receive(unsigned slot, std::uint64_t id);
  std::span<const std::uint8_t> received(unsigned slot) const;

  static constexpr unsigned kReceives =
      4;  ///< one echo is outstanding at a time; the rest is for impatient peers

 private:
  struct Buffer {
    alignas(64) std::uint8_t receive[kReceives][kEchoSize];
    std::uint8_t send[kEchoSize];
  };

  VerbsQp(std::shared_ptr<VerbsDevice> device, std::shared_ptr<VerbsCq> cq)
      : device_(std::move(device)), cq_(std::move(cq)) {}
  core::Result<void> create(Kind kind);
  core::Result<void> to_init(Kind kind, std::uint8_t port, std::uint8_t remote);
  core::Result<void> to_rtr(const QpPairAddress& peer, const QpNumbers& end, const PathSettings& path);
  core::Result<void> to_rts(const RcTiming& timing);

  std::shared_ptr<VerbsDevice> device_;
  std::shared_ptr<VerbsCq> cq_;
  ibv_qp* qp_ = nullptr;
  ibv_mr* mr_ = nullptr;
  std::unique_ptr<Buffer> buffer_;  // echo only
  std::uint32_t psn_ = 0;
  bool inline_ = false;
};

}  // namespace rdma_exporter::probe
