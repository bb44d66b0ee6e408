// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/engine.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::scrape {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kScrapes{
    "rdma_exporter_scrapes_total",
    MetricType::counter,
    "",
    "collections",
    "Collections started; scrapes that come while one is in flight share it and are not counted here",
    "src/scrape"};
constexpr MetricDesc kWorkers{"rdma_exporter_workers",
                              MetricType::gauge,
                              "",
                              "threads",
                              "Worker threads; more than one or two means that reads are stuck in the kernel",
                              "src/scrape"};
constexpr MetricDesc kWorkerLimit{
    "rdma_exporter_worker_limit_reached_total",
    MetricType::counter,
    "",
    "events",
    "Times a worker was needed to replace a stuck one and limits.workers forbade it",
    "src/scrape"};
static_assert(core::valid(kScrapes) && core::valid(kWorkers) && core::valid(kWorkerLimit));

// Asks the source what there is; its result is what the collections make their slots from.
class DiscoveryJob : public core::Job {
 public:
  explicit DiscoveryJob(Shared& shared) : Job("discovery", ""), shared_(shared) {}

  void run(core::JobRun& run) override {
    auto jobs = shared_.source.jobs(run);
    if (!jobs) {
      run.count_read_error(core::reason(jobs.error()));
      run.fail();
      return;
    }
    const std::lock_guard lock(shared_.mutex);
    if (*jobs != shared_.planned) reconcile(std::move(*jobs));
  }

 private:
  // Keeps the slots of jobs that stay, and the totals where a device was replaced by one of the same name.
  void reconcile(std::shared_ptr<const PlannedJobs> jobs) {
    std::vector<std::shared_ptr<Slot>> slots;
    for (const PlannedJob& planned : *jobs) {
      const auto same_name = std::find_if(shared_.slots.begin(), shared_.slots.end(), [&](const auto& slot) {
        return slot->job().collector() == planned.job->collector() &&
               slot->job().device() == planned.job->device();
      });
      if (same_name != shared_.slots.end() && &(*same_name)->job() == planned.job.get()) {
        slots.push_back(*same_name);
        continue;
      }
      slots.push_back(std::make_shared<Slot>(planned));
      if (same_name != shared_.slots.end()) slots.back()->inherit(**same_name);
    }
    shared_.slots = std::move(slots);
    shared_.planned = std::move(jobs);
  }

  Shared& shared_;
};

}  // namespace

struct Engine::Waiter {
  Waiter(boost::asio::io_context& io, Clock::time_point until, Answer wants)
      : deadline(until), timer(io, until), answer(std::move(wants)) {}
  Clock::time_point deadline;
  boost::asio::steady_timer timer;
  Answer answer;
};

Engine::Engine(boost::asio::io_context& io, JobSource& source, EngineOptions options,
               const std::vector<const MetricDesc*>& families, SelfMetrics self_metrics)
    : io_(io),
      options_(options),
      self_metrics_(std::move(self_metrics)),
      shared_(std::make_shared<Shared>(source, options.max_workers, options.series_per_device)),
      tick_(io),
      writer_(families) {
  shared_->discovery =
      std::make_shared<Slot>(PlannedJob{std::make_shared<DiscoveryJob>(*shared_), options.discovery_timeout});
}

Engine::~Engine() = default;

bool Engine::stop(Clock::time_point deadline) { return shared_->pool.stop(deadline); }

void Engine::scrape(Clock::time_point deadline, Answer answer) {
  auto waiter = std::make_shared<Waiter>(io_, join_deadline(deadline), std::move(answer));
  waiter->timer.async_wait([this, waiter](const boost::system::error_code& cancelled) {
    if (!cancelled) on_deadline(waiter);
  });
  waiters_.push_back(std::move(waiter));
  if (!current_) start_collection();
}

// A collection ends at the deadline of the scrape that started it: who joins gets what is there by then, so
// that a stuck device and two scrapers cannot keep one old collection alive for ever.
Clock::time_point Engine::join_deadline(Clock::time_point wanted) const {
  return current_ && !waiters_.empty() ? std::min(wanted, waiters_.front()->deadline) : wanted;
}

void Engine::start_collection() {
  ++collections_;
  current_ =
      std::make_shared<Collection>(shared_, ++cycle_, [this](const std::shared_ptr<Collection>& collection) {
        Page page = render(*collection);
        boost::asio::post(io_, [this, collection, page = std::move(page)] { deliver(collection, page); });
      });
  wait_tick();
  current_->start();
}

void Engine::wait_tick() {
  tick_.expires_after(options_.tick);
  tick_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled || !current_) return;
    shared_->pool.nudge();
    const auto collection = current_;
    collection->expire(Clock::now());
    wait_tick();
  });
}

void Engine::on_deadline(const std::shared_ptr<Waiter>& waiter) {
  const auto it = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (it == waiters_.end()) return;
  const auto collection = current_;
  const bool last = waiter->deadline >= waiters_.front()->deadline || waiters_.size() == 1;
  if (last) {
    collection->close(Clock::now());
    deliver(collection, render(*collection));
    return;
  }
  waiters_.erase(it);
  waiter->answer(render(*collection));
}

void Engine::deliver(const std::shared_ptr<Collection>& collection, const Page& page) {
  if (collection != current_) return;  // its scrapes have been answered at their deadline
  current_.reset();
  tick_.cancel();
  const auto waiters = std::exchange(waiters_, {});
  for (const auto& waiter : waiters) waiter->timer.cancel();
  for (const auto& waiter : waiters) waiter->answer(page);
}

Engine::Page Engine::render(const Collection& collection) {
  const std::lock_guard lock(render_mutex_);
  self_batch_.clear();
  std::vector<const core::SampleBatch*> batches;
  collection.gather(batches, self_batch_, Clock::now());
  report(self_batch_);
  self_metrics_(self_batch_);
  batches.push_back(&self_batch_);
  auto page = std::make_shared<std::string>();
  writer_.write(batches, *page);
  return page;
}

void Engine::report(core::SampleBatch& out) const {
  const WorkerPool::Stats stats = shared_->pool.stats();
  out.add(kScrapes, {}, collections_.load());
  out.add(kWorkers, {}, std::uint64_t{stats.workers});
  out.add(kWorkerLimit, {}, stats.limit_reached);
}

std::vector<const MetricDesc*> Engine::families() {
  std::vector<const MetricDesc*> all{&kScrapes, &kWorkers, &kWorkerLimit};
  const auto slots = slot_families();
  all.insert(all.end(), slots.begin(), slots.end());
  return all;
}

}  // namespace rdma_exporter::scrape
