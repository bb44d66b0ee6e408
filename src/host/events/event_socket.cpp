// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_socket.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>

namespace rdma_exporter::host {
namespace {

using core::os_error;

// Room for a burst, as far as net.core.rmem_max permits without privileges.
constexpr int kReceiveBuffer = 1024 * 1024;
// Limits how long a flood of messages from other senders can occupy the thread.
constexpr int kForeignInARow = 64;

}  // namespace

core::Result<EventSocket> EventSocket::open(int protocol, unsigned group) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!fd.valid()) return os_error(errno);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  // Bound first: the kernel sends group messages only to sockets with an address.
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return os_error(errno);
  if (::setsockopt(fd.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0)
    return os_error(errno);
  return EventSocket(std::move(fd));
}

core::Result<Bytes> EventSocket::receive(std::span<std::byte> buffer) {
  for (int foreign = 0; foreign < kForeignInARow;) {
    sockaddr_nl sender{};
    iovec space{buffer.data(), buffer.size()};
    msghdr header{};
    header.msg_name = &sender;
    header.msg_namelen = sizeof sender;
    header.msg_iov = &space;
    header.msg_iovlen = 1;
    const ssize_t size = ::recvmsg(fd_.get(), &header, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return Bytes();
    if (size < 0) return os_error(errno);
    // Port 0 is the kernel's; the sockets of processes have other ports.
    const bool from_kernel = header.msg_namelen == sizeof sender && sender.nl_pid == 0;
    if (from_kernel && (header.msg_flags & MSG_TRUNC) != 0) return os_error(EMSGSIZE);
    if (from_kernel && size > 0) return Bytes(buffer.data(), static_cast<std::size_t>(size));
    ++foreign;
  }
  return Bytes();
}

core::Result<std::unique_ptr<EventStream>> open_event_socket(int protocol, unsigned group) {
  auto socket = EventSocket::open(protocol, group);
  if (!socket) return tl::unexpected(socket.error());
  return std::make_unique<EventSocket>(std::move(*socket));
}

}  // namespace rdma_exporter::host
