// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "host/events/changes.h"
#include "host/events/event_counts.h"
#include "host/events/event_socket.h"
#include "host/netlink/netlink.h"
#include "host/verbs/verbs.h"

namespace rdma_exporter::host {

/// One thread that reads kernel notifications between scrapes: uevents, RDMA netlink MONITOR, rtnetlink
/// links, and the asynchronous events of the verbs devices that it is given. It counts them (EventCounts) and
/// notes what has to be read again (Changes). A source that is refused is tried again every kRetry. Without
/// any source, periodic readings still find every change, only later.
///
/// The thread waits for all sources at once and reads them without blocking. Only closing a verbs device may
/// block it. The thread shares ownership of what it uses with this object, so that the process can exit while
/// the thread is stuck. Public functions are thread-safe.
class EventReader {
 public:
  using MakeNetlink = std::function<std::unique_ptr<Netlink>(NetlinkProtocol)>;
  using Clock = std::chrono::steady_clock;

  using OpenStream = std::function<core::Result<std::unique_ptr<EventStream>>(int protocol, unsigned group)>;

  EventReader(std::shared_ptr<Changes> changes, MakeNetlink make_netlink,
              OpenStream open_stream = open_event_socket);
  /// Asks the thread to end and does not wait for it.
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  void start();
  /// Waits until the thread has closed everything and ended. False if it still runs at `deadline`.
  bool stop(Clock::time_point deadline);

  /// Whether there are RDMA devices. Without any, RDMA netlink stays closed, because opening it would make
  /// the kernel load its RDMA core.
  void set_rdma_present(bool present);

  /// As long as this exists, the events of a device are read.
  class Listening {
   public:
    virtual ~Listening() = default;
    /// False once reading has ended: the device is being removed, or its driver has revoked the context.
    virtual bool active() const = 0;
  };
  /// Reads these events until the device goes or the result is destroyed, then closes them. `pins`: the
  /// device cannot be removed while they are open. Then they are closed as soon as its removal begins, and
  /// whenever notifications were lost that may have announced it.
  std::unique_ptr<Listening> listen(const std::string& device, std::unique_ptr<AsyncEvents> events,
                                    bool pins);

  EventCounts& counts();

  static constexpr std::chrono::seconds kRetry{10};

 private:
  struct Entry;
  struct State;
  class Handle;
  class Loop;

  std::shared_ptr<State> state_;
};

}  // namespace rdma_exporter::host
