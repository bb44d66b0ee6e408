// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/events/event_reader.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "host/events/event_messages.h"
#include "host/fs/fd.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::host {
namespace {

// Longer than any message here: a uevent has 2 kB, a link message with everything in it a few.
constexpr std::size_t kBuffer = 64 * 1024;
// How many messages of one source are read before the next source has its turn.
constexpr int kTurn = 64;
constexpr unsigned kKernelUevents = 1;  // the kernel's own group; 2 is udevd's

}  // namespace

// A device whose events are read.
struct EventReader::Entry {
  std::string device;
  bool pins = false;
  std::unique_ptr<AsyncEvents> events;  // of the thread alone once handed over
  std::atomic<bool> wanted{true};
  std::atomic<bool> active{true};
};

// What the thread shares with other threads.
struct EventReader::State {
  State(std::shared_ptr<Changes> shared_changes, MakeNetlink netlink, OpenStream stream)
      : changes(std::move(shared_changes)),
        make_netlink(std::move(netlink)),
        open_stream(std::move(stream)) {}

  void interrupt() const { (void)::eventfd_write(wake.get(), 1); }
  void request_stop() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    interrupt();
  }

  const std::shared_ptr<Changes> changes;
  const MakeNetlink make_netlink;
  const OpenStream open_stream;
  EventCounts counts;
  const Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> rdma_present{false};

  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  bool running = false;
  std::vector<std::shared_ptr<Entry>> added;
};

class EventReader::Handle : public Listening {
 public:
  Handle(std::shared_ptr<State> state, std::shared_ptr<Entry> entry)
      : state_(std::move(state)), entry_(std::move(entry)) {}
  ~Handle() override {
    entry_->wanted = false;
    state_->interrupt();
  }
  bool active() const override { return entry_->active; }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Entry> entry_;
};

// What only the thread uses.
class EventReader::Loop {
 public:
  explicit Loop(State& state) : state_(state), sink_{*state.changes, state.counts}, buffer_(kBuffer) {}

  void run() {
    while (take_requests()) {
      open_sources(Clock::now());
      tell_whether_complete();
      wait();
      // Devices that were added before a message about them was sent are known when the message is read.
      (void)take_requests();
      // Events of devices first, then their removals.
      for (const auto& entry : entries_)
        if (ready(entry->events->fd())) read(*entry);
      for (Source& source : sources_)
        if (source.socket && ready(source.socket->fd())) read(source);
      drop_ended();
    }
    state_.changes->set_complete(false);
    for (const auto& entry : entries_) end(*entry);
  }

 private:
  struct Source {
    EventSource id;
    int protocol;
    unsigned group;
    std::unique_ptr<EventStream> socket{};
    Clock::time_point next_try{};
    bool absent = false;  // this kernel does not have it
  };

  // False if the thread has to end.
  bool take_requests() {
    const std::lock_guard lock(state_.mutex);
    entries_.insert(entries_.end(), state_.added.begin(), state_.added.end());
    state_.added.clear();
    return !state_.stop;
  }

  bool wanted(const Source& source) const {
    return !source.absent && (source.id != EventSource::monitor || state_.rdma_present);
  }

  void open_sources(Clock::time_point now) {
    for (Source& source : sources_) {
      if (source.socket || !wanted(source) || now < source.next_try) continue;
      source.next_try = now + kRetry;
      if (const auto opened = open(source); !opened) state_.counts.set_down(source.id, opened.error());
    }
  }

  core::Result<void> open(Source& source) {
    if (source.id == EventSource::monitor) {
      const auto supported = monitor_supported();
      if (!supported) return tl::unexpected(supported.error());
      source.absent = !*supported;
      if (source.absent) return {};
    }
    auto socket = state_.open_stream(source.protocol, source.group);
    if (!socket) return tl::unexpected(socket.error());
    source.socket = std::move(*socket);
    state_.changes->note_all();  // what happened before was not heard
    state_.counts.set_up(source.id);
    return {};
  }

  // A kernel without MONITOR: what it would report follows from the other two sources, a little later.
  void tell_whether_complete() {
    state_.changes->set_complete(std::all_of(sources_.begin(), sources_.end(), [this](const Source& source) {
      return source.socket != nullptr || !wanted(source);
    }));
  }

  // The kernel has to be asked, because older ones accept members of the group and never send anything.
  core::Result<bool> monitor_supported() const {
    const auto netlink = state_.make_netlink(NetlinkProtocol::rdma);
    if (!netlink) return false;
    return ask<bool>(*netlink, nldev::kSysGet, {}, nldev::parse_monitor_support);
  }

  void wait() {
    polled_.assign(1, {state_.wake.get(), POLLIN, 0});
    for (const auto& entry : entries_) polled_.push_back({entry->events->fd(), POLLIN, 0});
    bool retry = false;
    for (const Source& source : sources_) {
      if (source.socket) polled_.push_back({source.socket->fd(), POLLIN, 0});
      retry = retry || (!source.socket && wanted(source));
    }
    const int timeout = retry ? static_cast<int>(std::chrono::milliseconds(kRetry).count()) : -1;
    if (::poll(polled_.data(), polled_.size(), timeout) < 0)
      for (pollfd& fd : polled_) fd.revents = 0;  // EINTR
    eventfd_t ignored = 0;
    if (polled_.front().revents != 0) (void)::eventfd_read(state_.wake.get(), &ignored);
  }

  bool ready(int fd) const {
    return std::any_of(polled_.begin(), polled_.end(),
                       [fd](const pollfd& entry) { return entry.fd == fd && entry.revents != 0; });
  }

  void read(Source& source) {
    for (int i = 0; i < kTurn; ++i) {
      const auto datagram = source.socket->receive(buffer_);
      if (datagram && datagram->empty()) return;
      if (datagram) {
        handle(source.id, *datagram);
        continue;
      }
      on_loss(source.id, sink_);
      // A lost message may have announced the removal of a device, which waits until we close it.
      if (source.id == EventSource::uevent) end_where([](const Entry& entry) { return entry.pins; });
      if (core::is_errno(datagram.error(), ENOBUFS) || core::is_errno(datagram.error(), EMSGSIZE)) continue;
      state_.counts.set_down(source.id, datagram.error());
      source.socket.reset();
      tell_whether_complete();
      return;
    }
  }

  void handle(EventSource source, Bytes datagram) {
    if (source == EventSource::link) return on_links(datagram, sink_);
    if (source == EventSource::monitor) return on_monitor(datagram, sink_);
    const std::string removed = on_uevent(datagram, sink_);
    if (removed.empty()) return;
    end_where([&](const Entry& entry) { return entry.pins && entry.events->node() == removed; });
  }

  void read(Entry& entry) {
    for (int i = 0; i < kTurn && entry.active; ++i) {
      const auto event = entry.events->next();
      if (event && !*event) return;
      if (event) {
        state_.counts.count(entry.device, **event);
        state_.changes->note(entry.device);
      }
      // No event follows DEVICE_FATAL: the driver has revoked the context, or will.
      if (!event || (*event)->type == AsyncEventType::device_fatal) entry.active = false;
    }
  }

  template <typename Which>
  void end_where(Which which) {
    for (const auto& entry : entries_)
      if (which(*entry)) entry->active = false;
  }

  void drop_ended() {
    const auto ended = std::partition(entries_.begin(), entries_.end(),
                                      [](const auto& entry) { return entry->active && entry->wanted; });
    std::for_each(ended, entries_.end(), [this](const auto& entry) { end(*entry); });
    entries_.erase(ended, entries_.end());
  }

  void end(Entry& entry) {
    entry.active = false;
    state_.changes->set_complete(false);  // this may block, and nothing is heard meanwhile
    entry.events.reset();
    state_.changes->note(entry.device);
  }

  State& state_;
  const EventSink sink_;
  std::vector<std::byte> buffer_;
  std::array<Source, 3> sources_{{{EventSource::uevent, NETLINK_KOBJECT_UEVENT, kKernelUevents},
                                  {EventSource::link, NETLINK_ROUTE, RTNLGRP_LINK},
                                  {EventSource::monitor, NETLINK_RDMA, nldev::kMonitorGroup}}};
  std::vector<std::shared_ptr<Entry>> entries_;
  std::vector<pollfd> polled_;
};

EventReader::EventReader(std::shared_ptr<Changes> changes, MakeNetlink make_netlink, OpenStream open_stream)
    : state_(std::make_shared<State>(std::move(changes), std::move(make_netlink), std::move(open_stream))) {}

EventReader::~EventReader() { state_->request_stop(); }

void EventReader::start() {
  state_->running = true;
  std::thread([state = state_] {
    Loop(*state).run();
    const std::lock_guard lock(state->mutex);
    state->running = false;
    state->changed.notify_all();
  }).detach();
}

bool EventReader::stop(Clock::time_point deadline) {
  state_->request_stop();
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_until(lock, deadline, [this] { return !state_->running; });
}

void EventReader::set_rdma_present(bool present) {
  if (state_->rdma_present.exchange(present) != present) state_->interrupt();
}

std::unique_ptr<EventReader::Listening> EventReader::listen(const std::string& device,
                                                            std::unique_ptr<AsyncEvents> events, bool pins) {
  auto entry = std::make_shared<Entry>();
  entry->device = device;
  entry->pins = pins;
  entry->events = std::move(events);
  {
    const std::lock_guard lock(state_->mutex);
    state_->added.push_back(entry);
  }
  state_->interrupt();
  return std::make_unique<Handle>(state_, std::move(entry));
}

EventCounts& EventReader::counts() { return state_->counts; }

}  // namespace rdma_exporter::host
