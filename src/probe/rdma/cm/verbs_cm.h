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

/// An event of the connection manager about one of a channel's ids.
struct CmEvent {
  enum class Kind : unsigned char {
    address_resolved,
    route_resolved,
    request,      ///< from a peer; `id` is a new one
    response,     ///< from the peer: move the queue pair, then call establish()
    established,  ///< nothing remains to be done
    failed,
    other,
  };
  Kind kind = Kind::other;
  std::uint32_t id = 0;
  int os_errno = 0;                          ///< of failed; ECONNREFUSED: the peer rejected
  std::vector<std::uint8_t> private_data{};  ///< of request; longer than what was sent, padded with zeros
};

/// The kernel's connection manager (/dev/infiniband/rdma_cm, include/uapi/rdma/rdma_user_cm.h), which uses
/// InfiniBand's CM protocol on RoCE and TCP with MPA on iWARP. librdmacm is not used, because it opens a
/// second context of each device and keeps it as long as the process lives, so that the device could not be
/// removed. The owner of queue pairs creates, moves and destroys them. Ids live at most as long as the
/// channel; destroying either disconnects. One thread at a time. Calls may block, so make them on a worker;
/// next_event() does not block.
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
  /// The next event of `id` before the deadline; drops events of other ids. ETIMEDOUT, or the cause that a
  /// failed event reports.
  core::Result<CmEvent> wait(Id id, std::chrono::steady_clock::time_point deadline);

  core::Result<Id> create();
  void destroy(Id id);
  /// `netdev`: scope of a link-local address. Port 0: any port.
  core::Result<void> bind(Id id, const Gid& address, std::uint32_t netdev, std::uint16_t port);
  core::Result<void> listen(Id id, unsigned backlog);
  /// Both start an operation; an event reports its end.
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
  /// The attributes that a queue pair needs to reach `state` (enum ibv_qp_state) with InfiniBand's CM, and
  /// their mask for ibv_modify_qp().
  core::Result<int> attributes(Id id, int state, ibv_qp_attr& to);

 private:
  explicit CmChannel(int fd) : fd_(fd) {}
  template <typename Command>
  core::Result<void> send(std::uint32_t command, Command body, std::size_t answer_size, const char* what);

  int fd_;
};

/// Whether `id` is bound to the device's port.
bool is_on(const CmChannel::Place& place, const VerbsDevice& device, std::uint8_t port);

/// Those of this host's IP addresses that the connection manager assigns to the device's port: on iWARP, GIDs
/// are not addresses.
core::Result<std::vector<Gid>> managed_addresses(const VerbsDevice& device, std::uint8_t port);

}  // namespace rdma_exporter::probe
