// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
// Several devices hang permanently: what the others get, and what is left behind.
#include <array>

#include "tests/unit/scrape/engine_fixture.h"

namespace rdma_exporter::scrape {
namespace {

constexpr std::array<std::string_view, 12> kCollectors{"c0", "c1", "c2", "c3", "c4",  "c5",
                                                       "c6", "c7", "c8", "c9", "c10", "c11"};

class SlowJob final : public core::Job {
 public:
  explicit SlowJob(std::string device) : Job("slow", std::move(device)) {}
  void run(core::JobRun& run) override {
    std::this_thread::sleep_for(20ms);
    run.samples().add(kValue, "device=\"" + device() + "\"", std::uint64_t{1});
  }
};

class EngineIsolationTest : public EngineTest {
 protected:
  static constexpr unsigned kWorkers = 32;
  static constexpr int kDevices = 8;
  static constexpr int kHanging = 4;

  EngineIsolationTest() {
    EXPECT_TRUE(engine_->stop(Clock::now() + 10s));
    engine_ = std::make_unique<Engine>(
        io_, source_,
        EngineOptions{
            .max_workers = kWorkers, .series_per_device = 100, .discovery_timeout = 100ms, .tick = 5ms},
        families(), [](core::SampleBatch&) {});
    for (int device = 0; device < kDevices; ++device)
      for (const std::string_view collector : kCollectors)
        jobs_.push_back(std::make_shared<TestJob>("d" + std::to_string(device), collector));
    source_.timeout = 50ms;
    source_.set(jobs_);
  }
  ~EngineIsolationTest() override { set_hanging(false); }

  void set_hanging(bool hanging) {
    for (const auto& job : jobs_) {
      if (job->device() >= "d" + std::to_string(kHanging)) continue;
      hanging ? job->gate.close() : job->gate.open();
    }
  }
  static bool is_missing(const std::string& page, const TestJob& job, const std::string& reason = "") {
    return fails(page, job.device(), reason, std::string(job.collector()));
  }
  int served(const std::string& page) const {
    return static_cast<int>(
        std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& job) { return !is_missing(page, *job); }));
  }
  static double value(const std::string& page, const std::string& name) {
    const std::size_t at = page.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
  }

  std::vector<std::shared_ptr<TestJob>> jobs_;
};

TEST_F(EngineIsolationTest, DevicesThatHangCostTheOthersNothingHoweverManyScrapesCome) {
  constexpr int kHealthy = (kDevices - kHanging) * static_cast<int>(kCollectors.size());
  set_hanging(true);
  EXPECT_EQ(served(scrape(5s)), kHealthy);
  EXPECT_EQ(served(scrape(5s)), kHealthy);
  const double workers = value(scrape(5s), "rdma_exporter_workers");
  for (int i = 0; i < 150; ++i) {
    const auto start = Clock::now();
    ASSERT_EQ(served(scrape(5s)), kHealthy) << "scrape " << i;
    ASSERT_LT(Clock::now() - start, 2s) << "nobody waits twice for what is stuck";
  }
  const std::string page = scrape(5s);
  EXPECT_LE(value(page, "rdma_exporter_workers"), workers);
  EXPECT_LE(value(page, "rdma_exporter_workers"), kWorkers);
  for (const auto& job : jobs_) {
    if (!is_missing(page, *job)) continue;
    EXPECT_TRUE(is_missing(page, *job, "busy") || is_missing(page, *job, "back_off"))
        << job->collector() << ", " << job->device();
  }
}

TEST_F(EngineIsolationTest, ARunThatHangsHoldsUpNoOtherOfItsDevice) {
  source_.timeout = 10s;
  source_.set(jobs_);
  jobs_.front()->gate.close();
  const std::string page = scrape(2s);
  EXPECT_EQ(served(page), static_cast<int>(jobs_.size()) - 1);
  EXPECT_TRUE(is_missing(page, *jobs_.front(), "late"));
  for (const auto& job : jobs_) EXPECT_EQ(job->runs, 1) << job->collector() << ", " << job->device();
  EXPECT_TRUE(is_missing(scrape(2s), *jobs_.front(), "busy"));
  jobs_.front()->gate.open();
}

TEST_F(EngineIsolationTest, DevicesThatHangComeBackByThemselves) {
  set_hanging(true);
  for (int i = 0; i < 20; ++i) scrape(5s);
  set_hanging(false);
  const int all = static_cast<int>(jobs_.size());
  int now = 0;
  for (int i = 0; i < 500 && now < all; ++i) now = served(scrape(5s));
  EXPECT_EQ(now, all);
}

TEST_F(EngineIsolationTest, AShortDeadlineLeavesNothingInTheQueue) {
  set_hanging(true);
  source_.timeout = 10s;
  source_.set(jobs_);
  for (int i = 0; i < 30; ++i) scrape(20ms);
  // What was queued and taken back is not run after the scrape that wanted it.
  std::vector<int> runs;
  for (const auto& job : jobs_) runs.push_back(job->runs);
  set_hanging(false);
  std::this_thread::sleep_for(200ms);
  for (std::size_t i = 0; i < jobs_.size(); ++i) EXPECT_EQ(jobs_[i]->runs, runs[i]) << i;
}

TEST_F(EngineIsolationTest, ASlowHostIsReadByMoreThanOneWorker) {
  PlannedJobs jobs;
  for (int i = 0; i < 150; ++i)
    jobs.push_back({std::make_shared<SlowJob>("d" + std::to_string(i % 15)), 5000ms});
  struct Source final : JobSource {
    core::Result<std::shared_ptr<const PlannedJobs>> jobs(core::JobRun&) override { return planned; }
    std::shared_ptr<const PlannedJobs> planned;
  } source;
  source.planned = std::make_shared<const PlannedJobs>(std::move(jobs));
  Engine engine(io_, source, EngineOptions{.max_workers = kWorkers}, families(), [](core::SampleBatch&) {});
  PagePtr page;
  const auto start = Clock::now();
  engine.scrape({}, start + 8s, [&](PagePtr answer) { page = std::move(answer); });
  run_until([&] { return page != nullptr; });
  EXPECT_LT(Clock::now() - start, 1500ms) << "one after the other takes 3 s";
  EXPECT_TRUE(engine.stop(Clock::now() + 10s));
}

class CollectionTest : public ::testing::Test {
 protected:
  CollectionTest() {
    shared_->discovery = slot_of(discovery_);
    shared_->pool.set_owners(3);
  }
  ~CollectionTest() override { EXPECT_TRUE(shared_->pool.stop(Clock::now() + 10s)); }

  std::shared_ptr<Slot> slot_of(const std::shared_ptr<TestJob>& job) const {
    return std::make_shared<Slot>(PlannedJob{job, 5000ms}, shared_->owner_of(*job));
  }
  // Returns when the collection is over and nobody has it.
  void collect(const std::function<void()>& on_complete = [] {}) {
    std::atomic<bool> complete = false;
    auto collection = std::make_shared<Collection>(shared_, ++cycle_, Selection(), [&](const auto&) {
      on_complete();
      complete = true;
    });
    now_ = collection;
    collection->start();
    for (int i = 0; i < 10000 && !complete; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(complete);
    collection.reset();
    for (int i = 0; i < 10000 && !now_.expired(); ++i) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(now_.expired());
  }
  // The discovery finds that the first device has gone.
  void remove_first() {
    discovery_->on_run = [this] {
      const std::lock_guard lock(shared_->mutex);
      shared_->slots.erase(shared_->slots.begin());
    };
  }

  TestSource source_;
  std::shared_ptr<Shared> shared_ =
      std::make_shared<Shared>(source_, 8U, std::size_t{100}, core::MetricSet::full);
  std::shared_ptr<TestJob> discovery_ = std::make_shared<TestJob>("", "discovery");
  std::weak_ptr<Collection> now_;
  std::uint64_t cycle_ = 0;
};

// A stuck run keeps its job, and nothing of the collection that it was started for.
TEST_F(CollectionTest, IsGoneWhenItIsOverAlthoughARunOfItIsStuck) {
  auto stuck = std::make_shared<TestJob>("a");
  stuck->gate.close();
  shared_->slots = {slot_of(stuck)};
  std::weak_ptr<Collection> gone;
  {
    const auto collection = std::make_shared<Collection>(shared_, 1, Selection(), [](const auto&) {});
    gone = collection;
    collection->start();
    for (int i = 0; i < 2000 && stuck->runs == 0; ++i) std::this_thread::sleep_for(1ms);
    ASSERT_EQ(stuck->runs, 1);
    collection->close(Clock::now());
  }
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(shared_->pool.stats().waiting, 0U);
  stuck->gate.open();
  EXPECT_TRUE(shared_->pool.stop(Clock::now() + 10s));
  EXPECT_FALSE(shared_->slots[0]->running_since()) << "it can be started again";
  EXPECT_TRUE(shared_->stuck.empty());
}

// A job takes back in its end what it told the others.
TEST_F(CollectionTest, LetsGoOfAJobThatHasGoneBeforeTheOthersRun) {
  const auto stays = std::make_shared<TestJob>("a");
  auto goes = std::make_shared<TestJob>("b");
  shared_->slots = {slot_of(goes), slot_of(stays)};
  collect();
  const std::weak_ptr<TestJob> watched = std::exchange(goes, nullptr);
  remove_first();
  bool gone_first = false;
  stays->on_run = [&] { gone_first = watched.expired(); };
  collect();
  EXPECT_TRUE(gone_first);
}

class JobWithEnd final : public TestJob {
 public:
  JobWithEnd(std::string device, std::function<void()> on_end)
      : TestJob(std::move(device)), on_end_(std::move(on_end)) {}
  ~JobWithEnd() override { on_end_(); }

 private:
  std::function<void()> on_end_;
};

// Who announces it makes the page, which must not be the event loop, whose timer calls expire().
TEST_F(CollectionTest, IsAnnouncedByTheWorkerThatHasEndedItsLastRun) {
  std::thread::id loop;
  std::thread::id announcer;
  shared_->slots = {slot_of(std::make_shared<JobWithEnd>("a", [&] {
    std::thread timer([&, collection = now_.lock()] {
      loop = std::this_thread::get_id();
      collection->expire(Clock::now());
    });
    timer.join();
  }))};
  collect();
  remove_first();
  collect([&] { announcer = std::this_thread::get_id(); });
  EXPECT_NE(loop, std::thread::id()) << "the job has gone";
  EXPECT_NE(announcer, loop);
}

}  // namespace
}  // namespace rdma_exporter::scrape
