// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/netlink.h"

#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/netlink/netlink_attr.h"

// libnl opens the sockets. It would also send and receive, but takes 8,000 instructions for a request, most
// of them to allocate and to copy: a fifth of what a scrape costs in user mode.
namespace rdma_exporter::host {
namespace {

using core::os_error;

// nldev fills its answers up to about 32 KiB when the reader offers that much (core/nldev.c, skb sizing).
constexpr std::size_t kBuffer = 64 * 1024;

int errno_in(Bytes payload) {
  int result = 0;
  if (payload.size() >= sizeof result) std::memcpy(&result, payload.data(), sizeof result);
  return result;
}

// The answers to one request.
class Answers {
 public:
  Answers(std::uint32_t sequence, const Netlink::OnPart& on_part) : sequence_(sequence), on_part_(on_part) {}

  // False: no other datagram is to be waited for.
  bool take(Bytes datagram) {
    const bool whole = for_each_message(datagram, [this](const nlmsghdr& header, Bytes payload) {
      if (!ended_) take_message(header, payload);
    });
    if (!whole) fail(EBADMSG);
    return more_ && !ended_;
  }

  core::Result<void> result() const {
    if (error_ != 0) return os_error(error_);
    if (interrupted_) return os_error(EINTR);
    return {};
  }

  // Nothing is left on the socket that a later request would read: after the kernel's own refusal, and after
  // success.
  bool in_step() const { return refused_ || (!ended_ && result()); }

 private:
  void fail(int os_errno) {
    ended_ = true;
    error_ = os_errno;
  }

  // The kernel's errno is negative in NLMSG_ERROR (net/netlink/af_netlink.c netlink_ack), and in the
  // NLMSG_DONE of a dump that failed midway (netlink_dump_done).
  void take_result(Bytes payload) {
    const int result = errno_in(payload);
    if (result >= 0) return;
    fail(-result);
    refused_ = true;
  }

  void take_message(const nlmsghdr& header, Bytes payload) {
    if (header.nlmsg_seq != sequence_) return fail(EBADMSG);
    more_ = (header.nlmsg_flags & NLM_F_MULTI) != 0 && header.nlmsg_type != NLMSG_DONE;
    interrupted_ = interrupted_ || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (header.nlmsg_type == NLMSG_NOOP) return;
    if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) return take_result(payload);
    if (header.nlmsg_type == NLMSG_OVERRUN || ++messages_ > Netlink::kMaxMessages) return fail(EMSGSIZE);
    if (!on_part_(payload)) ended_ = true;
  }

  const std::uint32_t sequence_;
  const Netlink::OnPart& on_part_;
  std::size_t messages_ = 0;
  bool more_ = false;         ///< parts of a dump follow
  bool ended_ = false;        ///< by an error, or because on_part wants no more
  bool interrupted_ = false;  ///< the dump changed meanwhile
  bool refused_ = false;      ///< by the kernel
  int error_ = 0;
};

int family(NetlinkProtocol protocol) {
  switch (protocol) {
    case NetlinkProtocol::rdma:
      return NETLINK_RDMA;
    case NetlinkProtocol::route:
      return NETLINK_ROUTE;
    case NetlinkProtocol::generic:
      return NETLINK_GENERIC;
  }
  return -1;
}

struct SocketFree {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
};

class Socket : public Netlink {
 public:
  explicit Socket(int protocol, std::uint32_t peer = 0) : protocol_(protocol), peer_(peer) {}

  core::Result<void> request(std::uint16_t type, std::uint16_t flags, Bytes payload,
                             const OnMessage& on_message) override {
    return talk(type, flags, payload, [&on_message](Bytes message) {
      on_message(message);
      return true;
    });
  }

  core::Result<void> dump(std::uint16_t type, Bytes payload, const OnPart& on_part) override {
    return talk(type, NLM_F_DUMP, payload, on_part);
  }

 private:
  core::Result<void> talk(std::uint16_t type, std::uint16_t flags, Bytes payload, const OnPart& on_part) {
    if (!socket_) {
      if (auto opened = open(); !opened) return opened;
    }
    in_step_ = false;
    auto result = converse(type, flags, payload, on_part);
    if (!in_step_) socket_.reset();
    return result;
  }

  core::Result<void> open() {
    std::unique_ptr<nl_sock, SocketFree> socket(nl_socket_alloc());
    if (!socket) return os_error(ENOMEM);
    errno = 0;
    if (nl_connect(socket.get(), protocol_) != 0) return os_error(errno != 0 ? errno : EPROTONOSUPPORT);
    const timeval timeout{kReceiveTimeoutMs / 1000, (kReceiveTimeoutMs % 1000) * 1000};
    if (::setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
      return os_error(errno);
    if (peer_ != 0 && !connect(*socket)) return os_error(errno);
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kBuffer);
    socket_ = std::move(socket);
    return {};
  }

  // Without it, what is sent goes to the kernel.
  bool connect(nl_sock& socket) const {
    sockaddr_nl to{};
    to.nl_family = AF_NETLINK;
    to.nl_pid = peer_;
    return ::connect(nl_socket_get_fd(&socket), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }

  core::Result<void> converse(std::uint16_t type, std::uint16_t flags, Bytes payload, const OnPart& on_part) {
    const std::uint32_t sequence = nl_socket_use_seq(socket_.get());
    if (auto sent = send(type, NLM_F_REQUEST | flags, sequence, payload); !sent) return sent;
    Answers answers(sequence, on_part);
    for (bool more = true; more;) {
      const auto datagram = receive();
      if (!datagram) return tl::unexpected(datagram.error());
      more = answers.take(*datagram);
    }
    in_step_ = answers.in_step();
    return answers.result();
  }

  core::Result<void> send(std::uint16_t type, int flags, std::uint32_t sequence, Bytes payload) {
    const std::size_t size = NLMSG_LENGTH(payload.size());
    if (size > kBuffer) return os_error(EMSGSIZE);
    const nlmsghdr header{.nlmsg_len = static_cast<std::uint32_t>(size),
                          .nlmsg_type = type,
                          .nlmsg_flags = static_cast<std::uint16_t>(flags),
                          .nlmsg_seq = sequence,
                          .nlmsg_pid = nl_socket_get_local_port(socket_.get())};
    std::memcpy(buffer_.get(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), buffer_.get() + sizeof header);
    if (::send(nl_socket_get_fd(socket_.get()), buffer_.get(), size, 0) < 0) return os_error(errno);
    return {};
  }

  // One datagram, in buffer_.
  core::Result<Bytes> receive() {
    ssize_t size = 0;
    do {
      size = ::recv(nl_socket_get_fd(socket_.get()), buffer_.get(), kBuffer, MSG_TRUNC);
    } while (size < 0 && errno == EINTR);
    if (size < 0) return os_error(errno == EAGAIN ? ETIMEDOUT : errno);
    if (static_cast<std::size_t>(size) > kBuffer) return os_error(EMSGSIZE);
    return Bytes(buffer_.get(), static_cast<std::size_t>(size));
  }

  const int protocol_;
  const std::uint32_t peer_;  ///< 0: the kernel
  std::unique_ptr<nl_sock, SocketFree> socket_;
  std::unique_ptr<std::byte[]> buffer_;  ///< kBuffer bytes: the request, then each datagram of the answer
  bool in_step_ = false;                 ///< nothing is left on the socket that a later request would read
};

}  // namespace

std::unique_ptr<Netlink> make_netlink(NetlinkProtocol protocol) {
  return std::make_unique<Socket>(family(protocol));
}

std::unique_ptr<Netlink> make_netlink_to(std::uint32_t port) {
  return std::make_unique<Socket>(NETLINK_USERSOCK, port);
}

}  // namespace rdma_exporter::host
