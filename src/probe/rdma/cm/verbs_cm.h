// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "probe/rdma/gid.h"

struct ibv_qp_attr;

namespace rdma_exporter::probe {

class VerbsDevice;

/// What the connection manager has to say about one of a channel's ids.
struct CmEvent {
  enum class Kind : unsigned char {
    address_resolved,
    route_resolved,
    request,      ///< of a peer; `id` is a new one
    response,     ///< of the peer: the queue pair is to be moved, then establish()
    established,  ///< nothing is left to do
    failed,
    other,
  };
  Kind kind = Kind::other;
  std::uint32_t id = 0;
  int os_errno = 0;                          ///< of failed; ECONNREFUSED: the peer rejected
  std::vector<std::uint8_t> private_data{};  ///< of request; longer than what was sent, padded with zeros
};

/// The kernel's connection manager (/dev/infiniband/rdma_cm, include/uapi/rdma/rdma_user_cm.h), which speaks
/// InfiniBand's CM protocol on RoCE and TCP with MPA on iWARP. Spoken to without librdmacm, which opens a
/// second context of each device and keeps it for the life of the process: the device could not be removed
/// any more. Queue pairs are made, moved and destroyed by their owner. Ids live as long as the channel at
/// most; destroying either disconnects. By one thread at a time. Calls may block, on a worker; next_event()
/// does not.
class CmChannel {
 public:
  using Id = std::uint32_t;

  /// ENOENT: the module rdma_ucm is not loaded. EACCES, EPERM: no access to the node.
  static core::Result<std::unique_ptr<CmChannel>> open();
  ~CmChannel();
  CmChannel(const CmChannel&) = delete;
  CmChannel& operator=(const CmChannel&) = delete;

  int fd() const { return fd_; }  ///< readable when there is an event; not blocking
  std::optional<CmEvent> next_event();
  /// The next event of `id`, within the deadline; events of other ids are dropped. ETIMEDOUT, or what a
  /// failed event says.
  core::Result<CmEvent> wait(Id id, std::chrono::steady_clock::time_point deadline);

  core::Result<Id> create();
  void destroy(Id id);
  /// `netdev`: scope of a link-local address. Port 0: any.
  core::Result<void> bind(Id id, const Gid& address, std::uint32_t netdev, std::uint16_t port);
  core::Result<void> listen(Id id, unsigned backlog);
  /// Both are begun; an event tells the end.
  core::Result<void> resolve_address(Id id, const Gid& from, const Gid& to, std::uint32_t netdev,
                                     std::uint16_t port, std::chrono::milliseconds time);
  core::Result<void> resolve_route(Id id, std::chrono::milliseconds time);
  core::Result<void> connect(Id id, std::uint32_t qp_number, std::span<const std::uint8_t> private_data);
  core::Result<void> accept(Id id, std::uint32_t qp_number);
  core::Result<void> establish(Id id);
  void reject(Id id);

  struct Place {
    std::uint64_t node_guid = 0;  ///< of the device, 0: of none; network byte order as libibverbs has it
    std::uint8_t device_port = 0;
    std::uint16_t port = 0;  ///< own
  };
  core::Result<Place> place(Id id);
  /// What a queue pair of InfiniBand's CM needs for its way to `state` (enum ibv_qp_state). The mask for
  /// ibv_modify_qp().
  core::Result<int> attributes(Id id, int state, ibv_qp_attr& to);

 private:
  explicit CmChannel(int fd) : fd_(fd) {}
  template <typename Command>
  core::Result<void> send(std::uint32_t command, Command body, std::size_t answer_size, const char* what);

  int fd_;
};

/// True when `id` is bound to the device's port.
bool is_on(const CmChannel::Place& place, const VerbsDevice& device, std::uint8_t port);

/// Those of this host's IP addresses which the connection manager takes for the device's port: iWARP has no
/// GIDs that are addresses.
core::Result<std::vector<Gid>> managed_addresses(const VerbsDevice& device, std::uint8_t port);

}  // namespace rdma_exporter::probe
