// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/result.h"
#include "host/fs/fd.h"
#include "host/netlink/netlink.h"

namespace rdma_exporter::host {

/// A socket on which the kernel sends notifications to a multicast group. One thread at a time; nothing
/// blocks.
class EventStream {
 public:
  virtual ~EventStream() = default;
  /// Readable while a datagram or an error is waiting.
  virtual int fd() const = 0;
  /// The next datagram, in `buffer`; an empty one if none is waiting. Errors: ENOBUFS, the kernel had to drop
  /// messages; EMSGSIZE, a message was longer than the buffer; after any other error the socket is unusable.
  virtual core::Result<Bytes> receive(std::span<std::byte> buffer) = 0;
};

/// A netlink socket that only listens. The groups used here need no privilege. Messages that are not from the
/// kernel are skipped, so that nobody can forge events.
class EventSocket : public EventStream {
 public:
  /// `protocol` is one of NETLINK_*, `group` the group's number (not a mask).
  static core::Result<EventSocket> open(int protocol, unsigned group);

  int fd() const override { return fd_.get(); }
  core::Result<Bytes> receive(std::span<std::byte> buffer) override;

 private:
  explicit EventSocket(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// EventSocket::open() as EventReader takes it.
core::Result<std::unique_ptr<EventStream>> open_event_socket(int protocol, unsigned group);

}  // namespace rdma_exporter::host
