// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/netlink.h"

#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

namespace rdma_exporter::host {
namespace {

using core::os_error;

// nldev fills its answers up to about 32 KiB when the reader offers that much (core/nldev.c, skb sizing).
// libnl allocates it for each answer: from 64 KiB on, glibc's free() tidies up the whole heap each time.
constexpr std::size_t kReceiveBuffer = 60 * 1024;

// What the libnl callbacks see of one request.
struct Conversation {
  const Netlink::OnPart* on_part = nullptr;
  std::uint32_t sequence = 0;  ///< of the request
  std::size_t messages = 0;
  bool stopped = false;  ///< by on_part
  bool foreign = false;  ///< an answer to another request came
  int kernel_errno = 0;
};

// libnl looks at the sequence only where it asks for acknowledgements.
int on_sequence(nl_msg* message, void* context) {
  auto& conversation = *static_cast<Conversation*>(context);
  conversation.foreign = nlmsg_hdr(message)->nlmsg_seq != conversation.sequence;
  return conversation.foreign ? NL_STOP : NL_OK;
}

int on_valid(nl_msg* message, void* context) {
  auto& conversation = *static_cast<Conversation*>(context);
  if (conversation.stopped || ++conversation.messages > Netlink::kMaxMessages) return NL_STOP;
  const nlmsghdr* header = nlmsg_hdr(message);
  const auto* data = static_cast<const std::byte*>(nlmsg_data(header));
  conversation.stopped =
      !(*conversation.on_part)(Bytes(data, static_cast<std::size_t>(nlmsg_datalen(header))));
  return conversation.stopped ? NL_STOP : NL_OK;
}

// A dump that fails midway does not end with NLMSG_ERROR: NLMSG_DONE contains its negative errno
// (net/netlink/af_netlink.c netlink_dump_done), which libnl ignores.
int on_finish(nl_msg* message, void* context) {
  const nlmsghdr* header = nlmsg_hdr(message);
  int result = 0;
  if (nlmsg_datalen(header) >= static_cast<int>(sizeof result))
    std::memcpy(&result, nlmsg_data(header), sizeof result);
  if (result < 0) static_cast<Conversation*>(context)->kernel_errno = -result;
  return NL_OK;
}

// The kernel sends negative errno values in NLMSG_ERROR (net/netlink/af_netlink.c netlink_ack).
int on_error(sockaddr_nl* /*from*/, nlmsgerr* error, void* context) {
  static_cast<Conversation*>(context)->kernel_errno = -error->error;
  return NL_STOP;
}

int errno_from_libnl(int nle) {
  switch (-nle) {
    case NLE_AGAIN:
      return ETIMEDOUT;
    case NLE_MSG_TRUNC:
    case NLE_MSG_TOOSHORT:
      return EMSGSIZE;
    case NLE_DUMP_INTR:
      return EINTR;
    case NLE_NOMEM:
      return ENOMEM;
    default:
      return EBADMSG;
  }
}

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
struct CallbackPut {
  void operator()(nl_cb* callback) const { nl_cb_put(callback); }
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
    nl_socket_set_peer_port(socket.get(), peer_);
    nl_socket_disable_auto_ack(socket.get());
    nl_socket_disable_msg_peek(socket.get());
    nl_socket_set_msg_buf_size(socket.get(), kReceiveBuffer);
    const timeval timeout{kReceiveTimeoutMs / 1000, (kReceiveTimeoutMs % 1000) * 1000};
    if (::setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0)
      return os_error(errno);
    socket_ = std::move(socket);
    return {};
  }

  core::Result<void> converse(std::uint16_t type, std::uint16_t flags, Bytes payload, const OnPart& on_part) {
    Conversation conversation{.on_part = &on_part};
    const std::unique_ptr<nl_cb, CallbackPut> callbacks(nl_cb_alloc(NL_CB_DEFAULT));
    if (!callbacks) return os_error(ENOMEM);
    nl_cb_set(callbacks.get(), NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_sequence, &conversation);
    nl_cb_set(callbacks.get(), NL_CB_VALID, NL_CB_CUSTOM, on_valid, &conversation);
    nl_cb_set(callbacks.get(), NL_CB_FINISH, NL_CB_CUSTOM, on_finish, &conversation);
    nl_cb_err(callbacks.get(), NL_CB_CUSTOM, on_error, &conversation);
    // libnl does not write through the payload pointer, its signature only says so.
    void* data = const_cast<std::byte*>(payload.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    if (const int sent = nl_send_simple(socket_.get(), type, NLM_F_REQUEST | flags, data, payload.size());
        sent < 0)
      return os_error(errno_from_libnl(sent));
    conversation.sequence = nl_socket_use_seq(socket_.get()) - 1;  // the one before the next
    const int received = nl_recvmsgs(socket_.get(), callbacks.get());
    // After the kernel's own refusal the socket is in step; after anything else but success it may not be.
    in_step_ = conversation.kernel_errno != 0;
    if (in_step_) return os_error(conversation.kernel_errno);
    if (conversation.stopped) return {};
    if (conversation.messages > kMaxMessages) return os_error(EMSGSIZE);
    if (conversation.foreign) return os_error(EBADMSG);
    if (received < 0) return os_error(errno_from_libnl(received));
    in_step_ = true;
    return {};
  }

  const int protocol_;
  const std::uint32_t peer_;  ///< 0: the kernel
  std::unique_ptr<nl_sock, SocketFree> socket_;
  bool in_step_ = false;  ///< nothing is left on the socket that a later request would read
};

}  // namespace

std::unique_ptr<Netlink> make_netlink(NetlinkProtocol protocol) {
  return std::make_unique<Socket>(family(protocol));
}

std::unique_ptr<Netlink> make_netlink_to(std::uint32_t port) {
  return std::make_unique<Socket>(NETLINK_USERSOCK, port);
}

}  // namespace rdma_exporter::host
