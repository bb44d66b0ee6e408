// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/cm/verbs_cm.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>  // before the kernel's own definitions of addresses
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "probe/mesh/own_network.h"
#include "probe/rdma/verbs/device.h"

namespace rdma_exporter::probe {
namespace {

using core::os_error;
using std::chrono::milliseconds;

constexpr const char* kNode = "/dev/infiniband/rdma_cm";

// The kernel drops the events of an id that was created with uid 0.
constexpr std::uint64_t kUid = 1;

// enum rdma_cm_event_type of the kernel's include/rdma/rdma_cm.h, which is missing from its user-space
// header.
enum : std::uint32_t {
  cm_address_resolved,
  cm_address_error,
  cm_route_resolved,
  cm_route_error,
  cm_connect_request,
  cm_connect_response,
  cm_connect_error,
  cm_unreachable,
  cm_rejected,
  cm_established,
  cm_disconnected,
  cm_device_removal,
};

// The cause of the failure as a positive errno.
int errno_of(const rdma_ucm_event_resp& from) {
  switch (from.event) {
    case cm_rejected:
      return ECONNREFUSED;
    case cm_disconnected:
      return ECONNRESET;
    case cm_device_removal:
      return ENODEV;
    default:  // the status is a negative errno value; some devices leave it out
      return from.status != 0 ? std::abs(static_cast<int>(from.status)) : EHOSTUNREACH;
  }
}

CmEvent describe(const rdma_ucm_event_resp& from) {
  using Kind = CmEvent::Kind;
  CmEvent event{.kind = Kind::failed, .id = from.id};
  switch (from.event) {
    case cm_address_resolved:
      event.kind = Kind::address_resolved;
      break;
    case cm_route_resolved:
      event.kind = Kind::route_resolved;
      break;
    case cm_connect_request: {
      event.kind = Kind::request;
      const std::uint8_t* data = from.param.conn.private_data;
      event.private_data.assign(data, data + from.param.conn.private_data_len);
      break;
    }
    case cm_connect_response:
      event.kind = Kind::response;
      break;
    case cm_established:
      event.kind = Kind::established;
      break;
    case cm_address_error:
    case cm_route_error:
    case cm_connect_error:
    case cm_unreachable:
    case cm_rejected:
    case cm_disconnected:
    case cm_device_removal:
      event.os_errno = errno_of(from);
      break;
    default:
      event.kind = Kind::other;
  }
  return event;
}

sockaddr_in6 socket_address(const Gid& address, std::uint32_t netdev, std::uint16_t port) {
  sockaddr_in6 ipv6{};
  if (!address.ipv4()) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&ipv6.sin6_addr, address.bytes.data(), address.bytes.size());
    if (address.link_local()) ipv6.sin6_scope_id = netdev;
    return ipv6;
  }
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  std::memcpy(&ipv4.sin_addr, address.bytes.data() + 12, sizeof(ipv4.sin_addr));
  std::memcpy(&ipv6, &ipv4, sizeof(ipv4));
  return ipv6;
}

rdma_ucm_conn_param parameters(std::uint32_t qp_number, std::span<const std::uint8_t> private_data) {
  rdma_ucm_conn_param to{};
  to.qp_num = qp_number;
  const std::size_t size = std::min(private_data.size(), sizeof(to.private_data));
  std::copy_n(private_data.begin(), size, to.private_data);
  to.private_data_len = static_cast<std::uint8_t>(size);
  to.responder_resources = to.initiator_depth = 1;
  to.flow_control = 1;
  // The kernel only forwards these; each end sets its own when it moves its queue pair.
  to.retry_count = 3;
  to.rnr_retry_count = 1;
  to.valid = 1;
  return to;
}

ibv_ah_attr address_vector(const ib_uverbs_ah_attr& from) {
  ibv_ah_attr to{};
  std::memcpy(to.grh.dgid.raw, from.grh.dgid, sizeof(to.grh.dgid.raw));
  to.grh.flow_label = from.grh.flow_label;
  to.grh.sgid_index = from.grh.sgid_index;
  to.grh.hop_limit = from.grh.hop_limit;
  to.grh.traffic_class = from.grh.traffic_class;
  to.dlid = from.dlid;
  to.sl = from.sl;
  to.src_path_bits = from.src_path_bits;
  to.static_rate = from.static_rate;
  to.is_global = from.is_global;
  to.port_num = from.port_num;
  return to;
}

template <typename Answer>
std::uint64_t pointer_to(Answer& answer) {
  return reinterpret_cast<std::uintptr_t>(&answer);
}

}  // namespace

core::Result<std::unique_ptr<CmChannel>> CmChannel::open() {
  const int fd = ::open(kNode, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return os_error(errno, kNode);
  return std::unique_ptr<CmChannel>(new CmChannel(fd));
}

CmChannel::~CmChannel() { ::close(fd_); }

template <typename Command>
core::Result<void> CmChannel::send(std::uint32_t command, Command body, std::size_t answer_size,
                                   const char* what) {
  struct {
    rdma_ucm_cmd_hdr header;
    Command body;
  } message{{command, sizeof(Command), static_cast<std::uint16_t>(answer_size)}, body};
  static_assert(sizeof(message) == sizeof(rdma_ucm_cmd_hdr) + sizeof(Command));
  if (::write(fd_, &message, sizeof(message)) < 0) return os_error(errno, what);
  return {};
}

std::optional<CmEvent> CmChannel::next_event() {
  rdma_ucm_event_resp answer{};
  rdma_ucm_get_event command{};
  command.response = pointer_to(answer);
  if (!send(RDMA_USER_CM_CMD_GET_EVENT, command, sizeof(answer), "rdma_cm event")) return std::nullopt;
  return describe(answer);
}

core::Result<CmEvent> CmChannel::wait(Id id, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    while (const auto event = next_event()) {
      if (event->id != id) continue;
      if (event->kind == CmEvent::Kind::failed) return os_error(event->os_errno, "rdma_cm");
      return *event;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return os_error(ETIMEDOUT, "rdma_cm");
    pollfd readable{fd_, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(left.count())) < 0 && errno != EINTR)
      return os_error(errno, "rdma_cm");
  }
}

core::Result<CmChannel::Id> CmChannel::create() {
  rdma_ucm_create_id_resp answer{};
  rdma_ucm_create_id command{};
  command.response = pointer_to(answer);
  command.uid = kUid;
  command.ps = RDMA_PS_TCP;
  command.qp_type = IBV_QPT_RC;
  const auto sent = send(RDMA_USER_CM_CMD_CREATE_ID, command, sizeof(answer), "rdma_cm id");
  if (!sent) return tl::unexpected(sent.error());
  return answer.id;
}

void CmChannel::destroy(Id id) {
  rdma_ucm_destroy_id_resp answer{};
  rdma_ucm_destroy_id command{};
  command.response = pointer_to(answer);
  command.id = id;
  (void)send(RDMA_USER_CM_CMD_DESTROY_ID, command, sizeof(answer), "rdma_cm destroy");
}

core::Result<void> CmChannel::bind(Id id, const Gid& address, std::uint32_t netdev, std::uint16_t port) {
  rdma_ucm_bind_ip command{};
  command.addr = socket_address(address, netdev, port);
  command.id = id;
  return send(RDMA_USER_CM_CMD_BIND_IP, command, 0, "rdma_cm bind");
}

core::Result<void> CmChannel::listen(Id id, unsigned backlog) {
  return send(RDMA_USER_CM_CMD_LISTEN, rdma_ucm_listen{id, backlog}, 0, "rdma_cm listen");
}

core::Result<void> CmChannel::resolve_address(Id id, const Gid& from, const Gid& to, std::uint32_t netdev,
                                              std::uint16_t port, milliseconds time) {
  rdma_ucm_resolve_ip command{};
  command.src_addr = socket_address(from, netdev, 0);
  command.dst_addr = socket_address(to, netdev, port);
  command.id = id;
  command.timeout_ms = static_cast<std::uint32_t>(time.count());
  return send(RDMA_USER_CM_CMD_RESOLVE_IP, command, 0, "rdma_cm address");
}

core::Result<void> CmChannel::resolve_route(Id id, milliseconds time) {
  const rdma_ucm_resolve_route command{id, static_cast<std::uint32_t>(time.count())};
  return send(RDMA_USER_CM_CMD_RESOLVE_ROUTE, command, 0, "rdma_cm route");
}

core::Result<void> CmChannel::connect(Id id, std::uint32_t qp_number,
                                      std::span<const std::uint8_t> private_data) {
  rdma_ucm_connect command{};
  command.conn_param = parameters(qp_number, private_data);
  command.id = id;
  return send(RDMA_USER_CM_CMD_CONNECT, command, 0, "rdma_cm connect");
}

core::Result<void> CmChannel::accept(Id id, std::uint32_t qp_number) {
  rdma_ucm_accept command{};
  command.uid = kUid;
  command.conn_param = parameters(qp_number, {});
  command.id = id;
  return send(RDMA_USER_CM_CMD_ACCEPT, command, 0, "rdma_cm accept");
}

core::Result<void> CmChannel::establish(Id id) {
  rdma_ucm_accept command{};  // without parameters: "ready to use"
  command.uid = kUid;
  command.id = id;
  return send(RDMA_USER_CM_CMD_ACCEPT, command, 0, "rdma_cm establish");
}

void CmChannel::reject(Id id) {
  rdma_ucm_reject command{};
  command.id = id;
  (void)send(RDMA_USER_CM_CMD_REJECT, command, 0, "rdma_cm reject");
}

core::Result<CmChannel::Place> CmChannel::place(Id id) {
  rdma_ucm_query_route_resp answer{};
  rdma_ucm_query command{};
  command.response = pointer_to(answer);
  command.id = id;
  const auto sent = send(RDMA_USER_CM_CMD_QUERY_ROUTE, command, sizeof(answer), "rdma_cm place");
  if (!sent) return tl::unexpected(sent.error());
  return Place{answer.node_guid, answer.port_num, ntohs(answer.src_addr.sin6_port)};
}

core::Result<int> CmChannel::attributes(Id id, int state, ibv_qp_attr& to) {
  ib_uverbs_qp_attr answer{};
  rdma_ucm_init_qp_attr command{};
  command.response = pointer_to(answer);
  command.id = id;
  command.qp_state = static_cast<std::uint32_t>(state);
  const auto sent = send(RDMA_USER_CM_CMD_INIT_QP_ATTR, command, sizeof(answer), "rdma_cm attributes");
  if (!sent) return tl::unexpected(sent.error());
  to = {};
  to.qp_state = static_cast<ibv_qp_state>(state);
  to.ah_attr = address_vector(answer.ah_attr);
  to.path_mtu = static_cast<ibv_mtu>(answer.path_mtu);
  to.dest_qp_num = answer.dest_qp_num;
  to.rq_psn = answer.rq_psn;
  to.sq_psn = answer.sq_psn;
  to.max_rd_atomic = answer.max_rd_atomic;
  to.max_dest_rd_atomic = answer.max_dest_rd_atomic;
  return static_cast<int>(answer.qp_attr_mask);
}

bool is_on(const CmChannel::Place& place, const VerbsDevice& device, std::uint8_t port) {
  return place.node_guid == ibv_get_device_guid(device.context()->device) && place.device_port == port;
}

core::Result<std::vector<Gid>> managed_addresses(const VerbsDevice& device, std::uint8_t port) {
  auto channel = CmChannel::open();
  if (!channel) return tl::unexpected(channel.error());
  std::vector<Gid> addresses;
  for (const std::string& text : interface_addresses()) {
    const auto address = gid_of_address(text);
    if (!address || address->link_local()) continue;
    const auto id = (*channel)->create();
    if (!id) return tl::unexpected(id.error());
    // The kernel refuses addresses of network interfaces without an RDMA device.
    if ((*channel)->bind(*id, *address, 0, 0)) {
      const auto place = (*channel)->place(*id);
      if (place && is_on(*place, device, port)) addresses.push_back(*address);
    }
    (*channel)->destroy(*id);
  }
  return addresses;
}

}  // namespace rdma_exporter::probe
