// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/device_loop.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "log/log.h"

namespace rdma_exporter::probe {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kMaxQueues = 2;  // one of them with timestamps
constexpr DeviceEvent kGone{DeviceEvent::Kind::fatal, "DEVICE_FATAL"};

timespec to_timespec(nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

// Of the processors that this thread may use those of `local`, if any: a poll from another NUMA node waits
// for the way between the two, which would be in every round trip.
void stay_on(const core::NumberList& local) {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof(usable), &usable) != 0) return;
  cpu_set_t near;
  CPU_ZERO(&near);
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &usable) && local.contains(cpu)) CPU_SET(cpu, &near);
  if (CPU_COUNT(&near) != 0)
    ::sched_setaffinity(0, sizeof(near), &near);  // EPERM: where the service forbids it
}

}  // namespace

core::Result<std::unique_ptr<DeviceLoop>> DeviceLoop::make(std::shared_ptr<VerbsDevice> device,
                                                           unsigned depth) {
  auto cq = VerbsCq::make(device, depth);
  if (!cq) return tl::unexpected(cq.error());
  const int wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) return core::os_error(errno, "eventfd");
  return std::unique_ptr<DeviceLoop>(new DeviceLoop(std::move(device), std::move(*cq), depth, wake_fd));
}

DeviceLoop::DeviceLoop(std::shared_ptr<VerbsDevice> device, std::shared_ptr<VerbsCq> cq, unsigned depth,
                       int wake_fd)
    : device_(std::move(device)),
      cq_(std::move(cq)),
      depth_(depth),
      has_clock_(device_->clock().has_value()),
      wake_fd_(wake_fd),
      cqs_{cq_} {}

DeviceLoop::~DeviceLoop() {
  stopping_ = true;
  ::eventfd_write(wake_fd_, 1);
  if (thread_.joinable()) thread_.join();
  ::close(wake_fd_);
}

void DeviceLoop::start() {
  thread_ = std::thread([this] { run(); });
}

void DeviceLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  has_tasks_ = true;
  ::eventfd_write(wake_fd_, 1);
}

void DeviceLoop::run() {
  stay_on(device_->local_cpus());
  std::optional<Clock::time_point> next = Clock::time_point::min();
  while (!stopping_) {
    bool worked = poll_completions();
    const Clock::time_point now = Clock::now();
    if (now < spin_until_) continue;
    worked = run_tasks() || worked;
    if (worked || (next && *next <= now)) {
      next.reset();
      for (const Client& client : clients_) {
        const auto due = client.advance(now);
        if (due && (!next || *due < *next)) next = due;
      }
      continue;
    }
    sleep(next);
    next = Clock::time_point::min();  // whatever woke it may have changed what is due
  }
}

std::shared_ptr<VerbsCq> DeviceLoop::stamped_cq() {
  if (distrusted_) return nullptr;
  const std::lock_guard lock(stamped_mutex_);
  if (stamped_) return stamped_;
  auto made = VerbsCq::make_stamped(device_, depth_);
  if (!made) return nullptr;
  stamped_ = std::move(*made);
  post([this, cq = stamped_] { cqs_.push_back(cq); });
  return stamped_;
}

void DeviceLoop::distrust_clock() {
  if (distrusted_.exchange(true)) return;
  log::warn("the timestamps of an adapter are implausible; its probes use the clock of this host instead",
            {{"device", device_->name()}});
}

bool DeviceLoop::run_tasks() {
  if (!has_tasks_.exchange(false)) return false;
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  return !tasks.empty();
}

bool DeviceLoop::poll_completions() {
  bool any = false;
  for (const auto& cq : cqs_) any = poll(*cq) || any;
  return any;
}

// One completion at a time: the work of a handler would add to the round trips of all completions in the
// batch.
bool DeviceLoop::poll(VerbsCq& cq) {
  for (bool any = false; !dead_; any = true) {
    WorkCompletion completion;
    const auto count = cq.poll(std::span(&completion, 1));
    const Clock::time_point now = Clock::now();
    if (!count) {
      die(kGone);
      return true;
    }
    if (*count == 0) {
      empty_ = now;
      return any;
    }
    const auto handler = handlers_.find(completion.id >> 8);
    if (handler == handlers_.end()) continue;
    handler->second->completion(static_cast<std::uint8_t>(completion.id & 0xff), completion,
                                {now, slept_, empty_});
  }
  return false;
}

void DeviceLoop::sleep(std::optional<Clock::time_point> until) {
  if (!dead_) {
    for (const auto& cq : cqs_)
      if (!cq->arm()) return die(kGone);
    if (poll_completions()) return;
  }
  constexpr std::size_t kOthers = 2;
  std::array<pollfd, kOthers + kMaxQueues> fds{pollfd{wake_fd_, POLLIN, 0},
                                               pollfd{device_->event_fd(), POLLIN, 0}};
  for (std::size_t i = 0; i < cqs_.size(); ++i) fds[kOthers + i] = {cqs_[i]->fd(), POLLIN, 0};
  const nfds_t count = dead_ ? 1 : kOthers + cqs_.size();
  timespec time{};
  if (until) time = to_timespec(std::max<nanoseconds>(nanoseconds(0), *until - Clock::now()));
  ::ppoll(fds.data(), count, until ? &time : nullptr, nullptr);
  slept_ = Clock::now();
  eventfd_t ignored = 0;
  if (fds[0].revents != 0) ::eventfd_read(wake_fd_, &ignored);
  if (fds[1].revents != 0) take_events();
  for (std::size_t i = 0; i < cqs_.size(); ++i)
    if (fds[kOthers + i].revents != 0) cqs_[i]->take_events();
}

void DeviceLoop::take_events() {
  while (!dead_) {
    const auto event = device_->next_event();
    if (!event) return;
    if (event->kind == DeviceEvent::Kind::fatal) return die(*event);
    for (const Client& client : clients_) client.event(*event);
  }
}

void DeviceLoop::die(const DeviceEvent& why) {
  dead_ = true;
  for (const Client& client : clients_) client.event(why);
}

}  // namespace rdma_exporter::probe
