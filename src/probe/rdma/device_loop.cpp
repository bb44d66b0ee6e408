// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/device_loop.h"

#include <poll.h>
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

constexpr std::size_t kMaxQueues = 2;  // one of them stamped
constexpr DeviceEvent kGone{DeviceEvent::Kind::fatal, "DEVICE_FATAL"};

timespec to_timespec(nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
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
    : device_(std::move(device)), cq_(std::move(cq)), depth_(depth), wake_fd_(wake_fd), cqs_{cq_} {}

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
  std::optional<Clock::time_point> next = Clock::time_point::min();
  while (!stopping_) {
    const bool worked = run_tasks() || poll_completions();
    const Clock::time_point now = Clock::now();
    if (worked || (next && *next <= now)) {
      next.reset();
      for (const Client& client : clients_) {
        const auto due = client.advance(now);
        if (due && (!next || *due < *next)) next = due;
      }
      continue;
    }
    if (now < spin_until_) continue;
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
  log::warn("the time stamps of an adapter make no sense; its probes go on by this host's clock",
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

bool DeviceLoop::poll(VerbsCq& cq) {
  if (dead_) return false;
  std::array<WorkCompletion, 16> batch;
  const auto count = cq.poll(batch);
  const Clock::time_point seen = Clock::now();
  if (!count) {
    die(kGone);
    return true;
  }
  for (const WorkCompletion& completion : std::span(batch).first(*count)) {
    const auto handler = handlers_.find(completion.id >> 8);
    if (handler == handlers_.end()) continue;
    handler->second->completion(static_cast<std::uint8_t>(completion.id & 0xff), completion, seen, slept_);
  }
  return *count > 0;
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
