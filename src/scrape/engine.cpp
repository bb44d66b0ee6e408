// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/engine.h"

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::scrape {
namespace {

using core::MetricDesc;
using core::MetricType;

constexpr MetricDesc kScrapes{
    "rdma_exporter_scrapes_total",
    MetricType::counter,
    "",
    "collections",
    "Collections started. Scrapes that arrive while a collection is in flight share it and are not counted",
    "src/scrape"};
constexpr MetricDesc kWorkers{
    "rdma_exporter_workers",
    MetricType::gauge,
    "",
    "threads",
    "Number of worker threads. More than one or two means that reads are slow or stuck in the kernel",
    "src/scrape"};
constexpr MetricDesc kWorkerLimit{"rdma_exporter_worker_limit_reached_total",
                                  MetricType::counter,
                                  "",
                                  "events",
                                  "Number of times work had to wait because limits.workers or the share of "
                                  "its device allowed no further worker",
                                  "src/scrape"};
constexpr MetricDesc kDuration{"rdma_exporter_scrape_duration_seconds",
                               MetricType::histogram,
                               "",
                               "seconds",
                               "Duration of a collection in seconds, until all jobs ended or the deadline "
                               "passed. The exemplar names the slowest job",
                               "src/scrape"};
constexpr MetricDesc kLeftOut{"rdma_exporter_page_series_dropped_total",
                              MetricType::counter,
                              "",
                              "series",
                              "Series left out of pages that would have exceeded limits.page_bytes",
                              "src/scrape"};
constexpr MetricDesc kInFlight{"rdma_exporter_pages_in_flight_bytes",
                               MetricType::gauge,
                               "",
                               "bytes",
                               "Bytes of pages that clients have not received yet. At "
                               "limits.pages_in_flight_bytes, scrapes get status 503",
                               "src/scrape"};

constexpr std::array kFamilies{&kScrapes, &kDuration, &kLeftOut, &kInFlight, &kWorkers, &kWorkerLimit};
static_assert(std::all_of(kFamilies.begin(), kFamilies.end(),
                          [](const MetricDesc* m) { return core::valid(*m); }));

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
    slots.reserve(jobs->size());
    for (const PlannedJob& planned : *jobs) {
      const auto same_name = std::find_if(shared_.slots.begin(), shared_.slots.end(), [&](const auto& slot) {
        return slot->job().collector() == planned.job->collector() &&
               slot->job().subject() == planned.job->subject();
      });
      if (same_name != shared_.slots.end() && &(*same_name)->job() == planned.job.get()) {
        slots.push_back(*same_name);
        continue;
      }
      slots.push_back(std::make_shared<Slot>(planned, shared_.owner_of(*planned.job)));
      if (same_name != shared_.slots.end()) slots.back()->inherit(**same_name);
    }
    number_devices(slots);
    shared_.slots = std::move(slots);
    shared_.planned = std::move(jobs);
    std::erase_if(shared_.owners, [](const auto& entry) { return entry.second.expired(); });
    shared_.pool.set_owners(shared_.owners.size());
  }

  static void number_devices(const std::vector<std::shared_ptr<Slot>>& slots) {
    std::map<std::string_view, std::size_t> numbers{{"", 0}};
    for (const auto& slot : slots)
      slot->set_device_number(numbers.try_emplace(slot->job().device(), numbers.size()).first->second);
  }

  Shared& shared_;
};

}  // namespace

struct Engine::Waiter {
  Waiter(boost::asio::io_context& io, PageRequest wants, Clock::time_point until, Answer to)
      : request(std::move(wants)), deadline(until), timer(io, until), answer(std::move(to)) {}
  PageRequest request;
  Clock::time_point deadline;
  boost::asio::steady_timer timer;
  Answer answer;
  bool joined = false;  ///< the current collection has what it wants; otherwise it waits for the next one
};

Engine::Engine(boost::asio::io_context& io, JobSource& source, const EngineOptions& options,
               const std::vector<const MetricDesc*>& families, Printer::SelfMetrics self_metrics)
    : io_(io),
      options_(options),
      shared_(std::make_shared<Shared>(source, options.max_workers, options.series_per_device, options.set)),
      tick_(io),
      printer_(
          families,
          [this, add_others = std::move(self_metrics)](core::SampleBatch& out) {
            report(out);
            add_others(out);
          },
          options.page_bytes, options.start_time, options.observer) {
  auto job = std::make_shared<DiscoveryJob>(*shared_);
  auto owner = shared_->owner_of(*job);
  shared_->discovery =
      std::make_shared<Slot>(PlannedJob{std::move(job), options.discovery_timeout}, std::move(owner));
}

Engine::~Engine() = default;

bool Engine::stop(Clock::time_point deadline) { return shared_->pool.stop(deadline); }

void Engine::scrape(PageRequest request, Clock::time_point deadline, Answer answer) {
  auto waiter = std::make_shared<Waiter>(io_, std::move(request), deadline, std::move(answer));
  // A timer that has expired cannot be cancelled any more: its handler may run after a reload has ended the
  // engine.
  waiter->timer.async_wait(
      [this, alive = std::weak_ptr<bool>(alive_), waiter](const boost::system::error_code& cancelled) {
        if (!cancelled && !alive.expired()) on_deadline(waiter);
      });
  waiters_.push_back(waiter);
  try {
    if (current_) return join(*waiter);
    start_collection();
  } catch (...) {
    std::erase(waiters_, waiter);  // who is told now must not be answered later
    throw;
  }
}

// What other collectors read would have to be there when the collection ends. Where that leaves a scrape less
// than half of its own time it waits for the next collection.
bool Engine::has_time_for(const Waiter& waiter) const {
  const Clock::time_point now = Clock::now();
  return waiters_.front()->deadline - now >= (waiter.deadline - now) / 2;
}

// The page is wanted before the jobs are added, because they may be done at once. Where the worker writes the
// pages already, the next collection has this one: written here, it would hold up the event loop and could
// not be compressed.
void Engine::join(Waiter& waiter) {
  if (!current_->covers(waiter.request.collectors) && !has_time_for(waiter)) return;
  waiter.joined = pages_->want(waiter.request) && current_->join(waiter.request.collectors);
}

// For all who wait. Where it throws there is no collection.
void Engine::start_collection() try {
  ++collections_;
  Selection wanted = waiters_.front()->request.collectors;
  pages_ = std::make_shared<Pages>(printer_, *options_.pages);
  for (const auto& waiter : waiters_) {
    wanted.add(waiter->request.collectors);
    pages_->want(waiter->request);
    waiter->joined = true;
  }
  // A reload may end the engine while the pages are made, or before what is posted has run.
  const auto on_complete = [this, &io = io_, alive = std::weak_ptr<bool>(alive_),
                            pages = pages_](const std::shared_ptr<Collection>& collection) {
    const bool here = io.get_executor().running_in_this_thread();
    pages->make(*collection, here ? Compression::forbidden : Compression::allowed);
    // Weak: what is still posted at the end must not outlive the host whose files the jobs hold.
    try {
      boost::asio::post(io, [this, alive, weak = std::weak_ptr<Collection>(collection)] {
        if (alive.expired()) return;
        if (const auto delivered = weak.lock()) deliver(delivered);
      });
    } catch (const std::exception& exception) {
      log::caught("a finished collection is delivered only at its deadline", exception);
    }
  };
  current_ = std::make_shared<Collection>(shared_, ++cycle_, std::move(wanted), on_complete);
  wait_tick();
  current_->start();
} catch (...) {
  tick_.cancel();
  current_.reset();
  pages_.reset();
  throw;
}

void Engine::wait_tick() {
  tick_.expires_after(options_.tick);
  tick_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](const boost::system::error_code& cancelled) {
    if (cancelled || alive.expired() || !current_) return;
    const auto collection = current_;
    wait_tick();  // first: what follows may end the collection
    try {
      shared_->pool.nudge();
      collection->expire(Clock::now());
    } catch (const std::exception& exception) {
      log::caught("the check of a collection failed", exception);
    }
  });
}

// A collection ends at the deadline of the scrape that started it: who joined gets what is there by then, so
// that a stuck device and two scrapers cannot keep one old collection alive for ever.
void Engine::on_deadline(const std::shared_ptr<Waiter>& waiter) {
  const auto it = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (it == waiters_.end()) return;
  const auto collection = current_;
  const bool last = waiter->deadline >= waiters_.front()->deadline || waiters_.size() == 1;
  if (last && waiter->joined) return end_now(collection);
  waiters_.erase(it);
  waiter->answer(print_now(*collection, waiter->request));
}

void Engine::end_now(const std::shared_ptr<Collection>& collection) noexcept {
  try {
    collection->close(Clock::now());
    deliver(collection);
  } catch (const std::exception& exception) {
    log::caught("a collection was abandoned", exception);
    give_up();
  }
}

PagePtr Engine::print_now(const Collection& collection, const PageRequest& request) noexcept {
  if (!options_.pages->has_room()) return nullptr;
  try {
    return options_.pages->hold({printer_.print(collection, request), request.format, false});
  } catch (const std::exception& exception) {
    log::caught("a page could not be made", exception);
    return nullptr;
  }
}

// Throws, for lack of memory, before it has changed anything.
void Engine::deliver(const std::shared_ptr<Collection>& collection) {
  if (collection != current_) return;  // its scrapes have been answered at their deadline
  std::vector<std::pair<std::shared_ptr<Waiter>, PagePtr>> answers;
  std::vector<std::shared_ptr<Waiter>> too_late;
  answers.reserve(waiters_.size());
  too_late.reserve(waiters_.size());
  for (auto& waiter : waiters_) {
    if (!waiter->joined) {
      too_late.push_back(std::move(waiter));
      continue;
    }
    waiter->timer.cancel();
    PagePtr page = pages_->get(*collection, waiter->request);
    answers.emplace_back(std::move(waiter), std::move(page));
  }
  pages_->close();
  pages_.reset();  // who is answered keeps its page until it is sent
  current_.reset();
  tick_.cancel();
  waiters_ = std::move(too_late);
  start_next();
  for (const auto& [waiter, page] : answers) waiter->answer(page);
}

void Engine::start_next() noexcept {
  if (waiters_.empty()) return;
  try {
    start_collection();
  } catch (const std::exception& exception) {
    log::caught("a collection could not be started", exception);
    give_up();
  }
}

// Without the memory to do better: nobody waits for ever.
void Engine::give_up() noexcept {
  if (pages_) pages_->close();
  pages_.reset();
  current_.reset();
  tick_.cancel();
  for (const auto& waiter : std::exchange(waiters_, {})) {
    waiter->timer.cancel();
    waiter->answer(nullptr);
  }
}

void Engine::report(core::SampleBatch& out) const {
  const task::Pool::Stats stats = shared_->pool.stats();
  out.add(kScrapes, {}, collections_.load());
  out.add(kDuration, {}, shared_->durations.data());
  out.add(kLeftOut, {}, printer_.left_out());
  out.add(kInFlight, {}, std::uint64_t{options_.pages->in_flight()});
  out.add(kWorkers, {}, std::uint64_t{stats.workers});
  out.add(kWorkerLimit, {}, stats.limit_reached);
}

std::vector<const MetricDesc*> Engine::families() {
  std::vector<const MetricDesc*> all(kFamilies.begin(), kFamilies.end());
  const auto slots = JobReport::families();
  all.insert(all.end(), slots.begin(), slots.end());
  return all;
}

}  // namespace rdma_exporter::scrape
