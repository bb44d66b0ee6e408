// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/sampling_thread.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::collectors {

bool SamplingThread::keep(BurstClock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return true;
  keep_until_ = std::max(keep_until_, now + kKept);
  if (running_) return true;
  if (threads_->load() >= kMaxThreads) return false;
  try {
    std::thread([self = shared_from_this()] { self->run(); }).detach();
  } catch (const std::exception& error) {
    log::caught("cannot start the burst sampling thread", error);
    return false;
  }
  running_ = true;
  ++*threads_;
  return true;
}

void SamplingThread::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool SamplingThread::wait(BurstClock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return !running_; });
}

void SamplingThread::run() {
  std::unique_lock lock(mutex_);
  bool first = true;
  while (!stopped_ && BurstClock::now() < keep_until_) {
    lock.unlock();
    BurstClock::time_point next;
    try {
      next = turn_(std::exchange(first, false));
    } catch (const std::exception& error) {
      log::caught("burst sampling failed", error);
      next = BurstClock::now() + std::chrono::seconds(1);
    }
    lock.lock();
    changed_.wait_until(lock, next, [this] { return stopped_; });
  }
  running_ = false;
  --*threads_;
  changed_.notify_all();
}

std::shared_ptr<SamplingThread> SamplingThreads::make(SamplingThread::Turn turn) {
  auto thread = std::make_shared<SamplingThread>(std::move(turn), running_);
  const std::lock_guard lock(mutex_);
  std::erase_if(threads_, [](const auto& weak) { return weak.expired(); });
  threads_.push_back(thread);
  return thread;
}

bool SamplingThreads::stop(BurstClock::time_point deadline) {
  std::vector<std::shared_ptr<SamplingThread>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& weak : threads_)
      if (auto thread = weak.lock()) all.push_back(std::move(thread));
  }
  for (const auto& thread : all) thread->stop();
  bool ended = true;
  for (const auto& thread : all) ended = thread->wait(deadline) && ended;
  return ended;
}

}  // namespace rdma_exporter::collectors
