// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/collection.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <string>
#include <utility>

#include "log/caught.h"
#include "log/log.h"

namespace rdma_exporter::scrape {
namespace {

// A device whose runs take longer is slow or hangs; a healthy one takes a few milliseconds.
constexpr std::chrono::milliseconds kSlow{50};

void log_throw(const core::Job& job, const std::exception& thrown) noexcept {
  try {
    log::error(
        "a collector failed with an exception",
        {{"collector", std::string(job.collector())}, {"device", job.device()}, {"error", thrown.what()}});
  } catch (const std::exception& again) {
    log::caught("a collector failed with an exception", again);
  }
}

}  // namespace

// What is read of the host as a whole hangs for itself.
std::shared_ptr<task::Owner> Shared::owner_of(const core::Job& job) {
  const std::string name = job.subject().empty() ? " " + std::string(job.collector()) : job.subject();
  std::weak_ptr<task::Owner>& known = owners[name];
  std::shared_ptr<task::Owner> owner = known.lock();
  if (!owner) known = owner = std::make_shared<task::Owner>();
  return owner;
}

bool Shared::is_blocked(const task::Owner& owner) const {
  if (stuck.empty()) return false;
  const auto own = stuck.find(&owner);
  const auto add = [](std::size_t sum, const auto& entry) { return sum + entry.second; };
  return !pool.has_room(own == stuck.end() ? 0 : own->second,
                        std::accumulate(stuck.begin(), stuck.end(), std::size_t{0}, add), stuck.size());
}

void Shared::count_timeout(const core::Job& job) { ++timeouts[std::string(job.collector())]; }

void Shared::count_stuck(const task::Owner* owner) { ++stuck[owner]; }

void Shared::count_returned(const task::Owner* owner) {
  const auto it = stuck.find(owner);
  if (--it->second == 0) stuck.erase(it);
}

Collection::Collection(std::shared_ptr<Shared> shared, std::uint64_t cycle, Selection wanted,
                       OnComplete on_complete)
    : shared_(std::move(shared)),
      cycle_(cycle),
      wanted_(std::move(wanted)),
      on_complete_(std::move(on_complete)) {}

Collection::~Collection() {
  const std::lock_guard lock(shared_->mutex);
  for (const RunPtr& run : runs_)
    if (run->outcome == Outcome::done) run->slot->give_back(std::move(run->result));
}

void Collection::start() {
  std::unique_lock lock(shared_->mutex);
  begun_ = Clock::now();
  Slot& slot = *shared_->discovery;
  discovery_ =
      std::make_shared<Run>(*this, shared_->discovery, admit(slot, begun_), slot.take_run(cycle_, begun_));
  Tasks tasks = discovery_->outcome == Outcome::pending ? bundled({discovery_}) : plan();
  lock.unlock();
  submit(tasks);
}

Outcome Collection::admit(const Slot& slot, Clock::time_point now) const {
  const Outcome outcome = slot.admit(now);
  return outcome == Outcome::pending && shared_->is_blocked(*slot.owner()) ? Outcome::busy : outcome;
}

Collection::Tasks Collection::plan() {
  std::vector<RunPtr> runs;
  runs.reserve(shared_->slots.size());
  for (const auto& slot : shared_->slots)
    runs.push_back(std::make_shared<Run>(*this, slot, Outcome::unwanted));
  runs_ = std::move(runs);
  planned_ = true;
  return admit_wanted();
}

Collection::Tasks Collection::admit_wanted() {
  const Clock::time_point now = Clock::now();
  std::vector<RunPtr> pending;
  pending.reserve(runs_.size());  // a run is pending only with a task
  for (const RunPtr& run : runs_) {
    if (run->outcome != Outcome::unwanted || !wanted_.has(run->slot->job().collector())) continue;
    const Outcome admitted = admit(*run->slot, now);
    if (admitted == Outcome::pending) {
      run->result = run->slot->take_run(cycle_, now);  // first: it may find no memory
      pending.push_back(run);
    }
    run->outcome = admitted;
  }
  unfinished_ += pending.size();
  return bundled(pending);
}

// The slots of an owner follow each other.
Collection::Tasks Collection::bundled(const std::vector<RunPtr>& runs) {
  Tasks tasks;
  for (const RunPtr& run : runs) {
    if (tasks.empty() || bundles_.back()->runs.front()->slot->owner() != run->slot->owner()) {
      bundles_.push_back(std::make_shared<Bundle>());
      tasks.push_back(bundles_.back());
    }
    bundles_.back()->runs.push_back(run);
  }
  return tasks;
}

bool Collection::covers(const Selection& wanted) const {
  const std::lock_guard lock(shared_->mutex);
  return wanted_.covers(wanted);
}

bool Collection::join(const Selection& wanted) {
  Tasks tasks;
  {
    const std::lock_guard lock(shared_->mutex);
    if (wanted_.covers(wanted)) return true;
    if (announced_ || closed_) return false;
    wanted_.add(wanted);
    if (planned_) tasks = admit_wanted();
  }
  submit(tasks);
  return true;
}

void Collection::submit(const Tasks& tasks) {
  shared_->pool.submit(tasks);
  announce();  // where there was nothing to submit
}

// Ends a run and begins the next with the mutex taken once.
void Collection::Bundle::execute() {
  Run* ended = nullptr;
  for (const RunPtr& run : runs) {
    const bool begun = change_runs(ended, run.get());
    ended = begun ? run.get() : nullptr;
    if (begun) run->work();
  }
  if (ended) change_runs(ended, nullptr);
}

bool Collection::Bundle::waits() const {
  return !split && std::any_of(runs.begin(), runs.end(), [](const RunPtr& run) { return run->waits(); });
}

bool Collection::Bundle::is_slow(Clock::time_point now) const {
  const auto begun = std::find_if(runs.begin(), runs.end(), [](const RunPtr& run) { return run->started; });
  return begun != runs.end() && now - *(*begun)->started >= kSlow;
}

void Collection::Run::work() {
  core::Job& job = slot->job();
  try {
    job.run(*result);
  } catch (const std::exception& error) {
    result->fail();
    log_throw(job, error);
  }
}

void Collection::Run::drop(Clock::time_point now) {
  slot->ended(now, false);
  if (outcome == Outcome::late) shared->count_returned(slot->owner().get());
  slot->fold(*result);  // last, because it may find no memory
}

// The collection is not kept alive while a job runs: who is stuck keeps nothing of it. Either may be null.
bool Collection::change_runs(Run* ended, Run* next) {
  Run& any = ended ? *ended : *next;
  if (const auto collection = any.collection.lock()) return collection->change_runs_here(ended, next);
  const std::lock_guard lock(any.shared->mutex);
  if (ended) ended->drop(Clock::now());
  return false;
}

// Returns whether the next one has begun.
bool Collection::change_runs_here(Run* ended, Run* next) {
  std::unique_lock lock(shared_->mutex);
  const Clock::time_point now = Clock::now();
  const Tasks tasks = ended ? end(*ended, now) : Tasks{};
  const bool begun = next && begin(*next, now);
  const bool is_complete = complete();
  lock.unlock();
  if (!tasks.empty()) shared_->pool.submit(tasks);
  if (is_complete) announce();
  return begun;
}

bool Collection::begin(Run& run, Clock::time_point now) {
  // A job whose last run came back late may have been started by a younger collection meanwhile.
  if (closed_ || !run.waits() || run.slot->running_since()) return false;
  run.started = now;
  run.slot->started(now);
  return true;
}

// Returns what is to be submitted then.
Collection::Tasks Collection::end(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending) {
    run.drop(now);
    return {};
  }
  run.slot->ended(now, true);
  run.outcome = Outcome::done;
  run.ended = now;
  account(run);
  if (&run == discovery_.get()) return plan();
  --unfinished_;
  return {};
}

void Collection::account(Run& run) noexcept {
  try {
    limit_series(run);
    run.slot->fold(*run.result);
  } catch (const std::exception& error) {
    log::caught("a collector's result was dropped", error);
    run.result->samples().truncate(0);
    run.result->fail();
  }
}

// A device has a share of the page; what its collectors find beyond that is dropped and counted.
void Collection::limit_series(Run& run) {
  const std::size_t device = run.slot->device_number();
  if (device >= series_.size()) series_.resize(device + 1);
  std::size_t& served = series_[device];
  const std::size_t room = shared_->series_per_device - std::min(served, shared_->series_per_device);
  core::SampleBatch& samples = run.result->samples();
  if (samples.size() > room) {
    run.result->count_dropped("series_per_device", samples.size() - room);
    samples.truncate(room);
  }
  served += samples.size();
}

void Collection::announce() {
  {
    const std::lock_guard lock(shared_->mutex);
    if (!complete() || announced_) return;
    announced_ = true;
    observe_duration(Clock::now());
  }
  on_complete_(shared_from_this());
}

void Collection::expire_run(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending || !run.started || now - *run.started < run.slot->timeout()) return;
  shared_->count_stuck(run.slot->owner().get());  // before it is late: it may find no memory
  run.outcome = Outcome::late;
  shared_->count_timeout(run.slot->job());
  if (&run != discovery_.get()) --unfinished_;
}

// Gives up runs that would wait until the deadline because too many runs of their owner are stuck.
void Collection::give_up_blocked(const Bundle& bundle) {
  if (!bundle.waits() || !shared_->is_blocked(*bundle.runs.front()->slot->owner())) return;
  for (const RunPtr& run : bundle.runs) {
    if (!run->waits()) continue;
    run->outcome = Outcome::busy;
    if (run != discovery_) --unfinished_;
  }
  shared_->pool.withdraw(bundle);
}

// What waits behind a slow run gets workers of its own.
Collection::Tasks Collection::split_slow(Clock::time_point now) {
  std::vector<std::shared_ptr<Bundle>> slow;
  std::vector<std::shared_ptr<Bundle>> parts;
  for (const auto& bundle : bundles_) {
    if (!bundle->waits() || !bundle->is_slow(now)) continue;
    slow.push_back(bundle);
    for (const RunPtr& run : bundle->runs)
      if (run->waits()) parts.emplace_back(std::make_shared<Bundle>())->runs.push_back(run);
  }
  bundles_.insert(bundles_.end(), parts.begin(), parts.end());
  Tasks tasks(parts.begin(), parts.end());
  for (const auto& bundle : slow) bundle->split = true;  // last: all else may find no memory
  return tasks;
}

void Collection::expire(Clock::time_point now) {
  std::unique_lock lock(shared_->mutex);
  if (!discovery_ || closed_) return;
  expire_run(*discovery_, now);
  for (const auto& bundle : bundles_) give_up_blocked(*bundle);
  const bool given_up = discovery_->outcome == Outcome::late || discovery_->outcome == Outcome::busy;
  if (given_up && !planned_) {
    const Tasks tasks = plan();
    lock.unlock();
    submit(tasks);
    return;
  }
  for (const RunPtr& run : runs_) expire_run(*run, now);
  for (const auto& bundle : bundles_) give_up_blocked(*bundle);
  const Tasks tasks = split_slow(now);
  lock.unlock();
  submit(tasks);
}

void Collection::close(Clock::time_point now) {
  const std::lock_guard lock(shared_->mutex);
  if (closed_ || !discovery_) return;
  if (!planned_) plan();
  closed_ = true;
  if (!announced_) observe_duration(now);
  for (const auto& bundle : bundles_)
    if (bundle->waits()) shared_->pool.withdraw(*bundle);
  close_run(*discovery_, now);
  for (const RunPtr& run : runs_) close_run(*run, now);
}

void Collection::close_run(Run& run, Clock::time_point now) {
  if (run.outcome != Outcome::pending) return;
  shared_->count_timeout(run.slot->job());
  run.ended = now;
  if (run.started) {
    shared_->count_stuck(run.slot->owner().get());
    run.outcome = Outcome::late;
  }
}

void Collection::gather(const Selection& collectors, std::vector<const core::SampleBatch*>& finished,
                        core::SampleBatch& self, Clock::time_point now) const {
  const std::lock_guard lock(shared_->mutex);
  JobReport jobs(shared_->timeouts);
  if (discovery_) report(*discovery_, jobs, now);
  for (const RunPtr& run : runs_) {
    if (run->outcome == Outcome::unwanted || !collectors.has(run->slot->job().collector())) continue;
    if (run->outcome == Outcome::done) finished.push_back(&run->result->samples());
    report(*run, jobs, now);
  }
  jobs.write(self);
}

// For a stuck run the time it has been stuck so far.
Clock::duration Collection::taken(const Run& run, Clock::time_point now) const {
  const auto since = run.outcome == Outcome::busy ? run.slot->running_since() : run.started;
  const auto until = run.outcome == Outcome::done ? *run.ended : now;
  return since ? until - *since : Clock::duration::zero();
}

// The example is the job that took longest: where to look when collections are slow. Nobody waited for one
// that was busy before.
void Collection::observe_duration(Clock::time_point now) {
  const Run* slowest = discovery_.get();
  for (const RunPtr& run : runs_)
    if (run->outcome != Outcome::busy && taken(*run, now) > taken(*slowest, now)) slowest = run.get();
  const std::chrono::duration<double> duration = now - begun_;
  shared_->durations.observe(duration.count(), slowest->slot->labels());
}

void Collection::report(const Run& run, JobReport& jobs, Clock::time_point now) const {
  // Single reads that fail cost their samples; a job of which nothing could be read has failed.
  // What has not ended is still being written to.
  const auto read_something = [](const core::JobRun& result) {
    return result.samples().size() != 0 || result.read_errors().empty();
  };
  const bool success = run.outcome == Outcome::done && !run.result->failed() && read_something(*run.result);
  const bool goes_on = run.outcome == Outcome::pending && run.started;
  jobs.add(*run.slot, goes_on ? Outcome::late : run.outcome, success, taken(run, now));
}

}  // namespace rdma_exporter::scrape
