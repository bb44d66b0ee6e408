// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace rdma_exporter::scrape {
namespace {

using namespace std::chrono_literals;

constexpr core::MetricDesc kValue{
    "rdma_test_value", core::MetricType::gauge, "device", "", "A value", "test"};

// A read that can be held inside "the kernel".
class Gate {
 public:
  void close() { set(true); }
  void open() { set(false); }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
  }

 private:
  void set(bool closed) {
    const std::lock_guard lock(mutex_);
    closed_ = closed;
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};

class TestJob : public core::Job {
 public:
  explicit TestJob(std::string device) : Job("test", std::move(device)) {}
  void run(core::JobRun& run) override {
    ++runs;
    gate.pass();
    if (throws) throw std::runtime_error("broken");
    for (unsigned i = 0; i < series; ++i)
      run.samples().add(kValue, "device=\"" + device() + "\"" + std::string(i, ' '), std::uint64_t{value});
  }
  Gate gate;
  std::atomic<int> runs = 0;
  std::atomic<unsigned> value = 1;
  std::atomic<unsigned> series = 1;
  std::atomic<bool> throws = false;
};

class TestSource : public JobSource {
 public:
  core::Result<std::shared_ptr<const PlannedJobs>> jobs(core::JobRun& /*run*/) override {
    gate.pass();
    const std::lock_guard lock(mutex_);
    if (fails) return core::os_error(EIO);
    return planned_;
  }
  void set(std::vector<std::shared_ptr<TestJob>> jobs) {
    auto planned = std::make_shared<PlannedJobs>();
    for (auto& job : jobs) planned->push_back({job, timeout});
    const std::lock_guard lock(mutex_);
    planned_ = std::move(planned);
  }
  Gate gate;
  std::atomic<bool> fails = false;
  std::chrono::milliseconds timeout{5000};

 private:
  std::mutex mutex_;
  std::shared_ptr<const PlannedJobs> planned_ = std::make_shared<PlannedJobs>();
};

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    source_.set({a_, b_});
    engine_.emplace(
        io_, source_,
        EngineOptions{.max_workers = 8, .series_per_device = 10, .discovery_timeout = 100ms, .tick = 5ms},
        families(), [](core::SampleBatch&) {});
  }
  ~EngineTest() override {
    a_->gate.open();
    b_->gate.open();
    source_.gate.open();
    EXPECT_TRUE(engine_->stop(Clock::now() + 10s));
  }

  static std::vector<const core::MetricDesc*> families() {
    auto all = Engine::families();
    all.push_back(&kValue);
    return all;
  }

  // Runs the loop until one scrape is answered.
  std::string scrape(std::chrono::milliseconds timeout = 10s) {
    std::string page;
    bool answered = false;
    engine_->scrape(Clock::now() + timeout, [&](const Engine::Page& answer) {
      page = *answer;
      answered = true;
    });
    run_until([&] { return answered; });
    return page;
  }

  template <typename Condition>
  void run_until(Condition condition) {
    const auto limit = Clock::now() + 20s;
    io_.restart();
    while (!condition() && Clock::now() < limit) io_.run_one_for(10ms);
    ASSERT_TRUE(condition());
  }

  static bool has(const std::string& page, const std::string& line) {
    return page.find(line + "\n") != std::string::npos;
  }
  static std::string self(const std::string& metric, const std::string& device, const std::string& value) {
    return "rdma_exporter_collector_" + metric + "{collector=\"test\",device=\"" + device + "\"} " + value;
  }

  asio::io_context io_;
  TestSource source_;
  std::shared_ptr<TestJob> a_ = std::make_shared<TestJob>("a");
  std::shared_ptr<TestJob> b_ = std::make_shared<TestJob>("b");
  std::optional<Engine> engine_;
};

TEST_F(EngineTest, ServesWhatAllJobsFound) {
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
  EXPECT_TRUE(has(page, self("success", "a", "1")));
  EXPECT_TRUE(has(page, "rdma_exporter_scrapes_total 1"));
}

TEST_F(EngineTest, AnswersAtTheDeadlineWithoutTheStuckJob) {
  a_->gate.close();
  const auto start = Clock::now();
  const std::string page = scrape(100ms);
  const auto took = Clock::now() - start;
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 1s);
  EXPECT_FALSE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
  EXPECT_TRUE(has(page, self("success", "a", "0")));
  EXPECT_TRUE(has(page, self("busy", "a", "1")));
  EXPECT_TRUE(has(page, self("timeouts_total", "a", "1")));
  EXPECT_TRUE(has(page, self("busy", "b", "0")));
}

TEST_F(EngineTest, DoesNotStartABusyJobAgainNorWaitForIt) {
  a_->gate.close();
  scrape(50ms);
  for (int i = 0; i < 20; ++i) {
    const auto start = Clock::now();
    EXPECT_TRUE(has(scrape(5s), "rdma_test_value{device=\"b\"} 1"));
    EXPECT_LT(Clock::now() - start, 2s);
  }
  EXPECT_EQ(a_->runs, 1);
  EXPECT_TRUE(has(scrape(), "rdma_exporter_workers 2"));
}

TEST_F(EngineTest, DropsALateResultAndComesBackByItself) {
  a_->gate.close();
  a_->value = 111;
  scrape(50ms);
  a_->gate.open();
  a_->value = 222;
  std::string page;
  for (int i = 0; i < 1000 && page.find("device=\"a\"} 222") == std::string::npos; ++i) {
    page = scrape();
    EXPECT_FALSE(has(page, "rdma_test_value{device=\"a\"} 111")) << "a late result must not be served as new";
  }
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 222"));
  EXPECT_TRUE(has(page, self("success", "a", "1")));
  EXPECT_TRUE(has(page, self("busy", "a", "0")));
}

TEST_F(EngineTest, GoesOnWithoutAJobThatIsOverItsOwnTimeout) {
  source_.timeout = 50ms;
  source_.set({a_, b_});
  a_->gate.close();
  const auto start = Clock::now();
  const std::string page = scrape(10s);
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_TRUE(has(page, self("timeouts_total", "a", "1")));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, JoinsConcurrentScrapes) {
  a_->gate.close();
  std::vector<Engine::Page> pages;
  for (int i = 0; i < 20; ++i)
    engine_->scrape(Clock::now() + 10s, [&](const Engine::Page& page) { pages.push_back(page); });
  run_until([&] { return b_->runs > 0; });
  a_->gate.open();
  run_until([&] { return pages.size() == 20; });
  for (const auto& page : pages) EXPECT_EQ(page, pages.front());
  EXPECT_EQ(a_->runs, 1);
  EXPECT_TRUE(has(*pages.front(), "rdma_exporter_scrapes_total 1"));
}

TEST_F(EngineTest, AnswersAJoiningScrapeAtItsOwnEarlierDeadline) {
  a_->gate.close();
  bool first = false;
  bool second = false;
  engine_->scrape(Clock::now() + 10s, [&](const Engine::Page&) { first = true; });
  engine_->scrape(Clock::now() + 50ms, [&](const Engine::Page&) { second = true; });
  run_until([&] { return second; });
  EXPECT_FALSE(first);
  a_->gate.open();
  run_until([&] { return first; });
}

TEST_F(EngineTest, EndsACollectionAtTheDeadlineOfTheScrapeThatStartedIt) {
  a_->gate.close();
  bool first = false;
  bool second = false;
  engine_->scrape(Clock::now() + 50ms, [&](const Engine::Page&) { first = true; });
  engine_->scrape(Clock::now() + 10s, [&](const Engine::Page&) { second = true; });
  run_until([&] { return first && second; });
}

TEST_F(EngineTest, SurvivesAJobThatThrows) {
  a_->throws = true;
  const std::string page = scrape();
  EXPECT_TRUE(has(page, self("success", "a", "0")));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, UsesTheJobsItKnowsWhileDiscoveryIsStuck) {
  scrape();
  source_.gate.close();
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(has(page, "rdma_exporter_collector_success{collector=\"discovery\",device=\"\"} 0"));
  EXPECT_TRUE(has(scrape(), "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, UsesTheJobsItKnowsWhenDiscoveryFails) {
  scrape();
  source_.fails = true;
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(
      has(page, "rdma_exporter_read_errors_total{collector=\"discovery\",device=\"\",reason=\"EIO\"} 1"));
}

TEST_F(EngineTest, KeepsADeviceWithinItsShareOfSeries) {
  a_->series = 13;
  scrape();
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
  EXPECT_TRUE(has(
      page,
      "rdma_exporter_series_dropped_total{collector=\"test\",device=\"a\",reason=\"series_per_device\"} 6"));
}

TEST_F(EngineTest, FollowsJobsThatComeAndGo) {
  scrape();
  source_.set({b_});
  const std::string page = scrape();
  EXPECT_EQ(page.find("device=\"a\""), std::string::npos);
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, AnswersWithItsOwnMetricsWhenThereAreNoJobs) {
  source_.set({});
  EXPECT_TRUE(has(scrape(), "rdma_exporter_scrapes_total 1"));
}

}  // namespace
}  // namespace rdma_exporter::scrape
