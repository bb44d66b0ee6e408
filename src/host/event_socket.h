// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <span>

#include "core/result.h"
#include "host/fd.h"
#include "host/netlink.h"

namespace rdma_exporter::host {

/// A netlink socket that only listens to what the kernel sends to a multicast group. Needs no privilege for
/// the groups used here. One thread at a time; nothing blocks.
class EventSocket {
 public:
  /// `protocol` is one of NETLINK_*, `group` the group's number (not a mask).
  static core::Result<EventSocket> open(int protocol, unsigned group);

  int fd() const { return fd_.get(); }

  /// The next datagram, in `buffer`; an empty one when none is waiting. Errors: ENOBUFS, the kernel had to
  /// drop messages; EMSGSIZE, one was longer than the buffer; others, the socket is of no use any more. What
  /// does not come from the kernel is passed over: whoever may send to the group cannot forge events.
  core::Result<Bytes> receive(std::span<std::byte> buffer);

 private:
  explicit EventSocket(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace rdma_exporter::host
