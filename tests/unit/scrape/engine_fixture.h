// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scrape/engine.h"

namespace rdma_exporter::scrape {

using namespace std::chrono_literals;

inline constexpr core::MetricDesc kValue{
    "rdma_test_value", core::MetricType::gauge, "device", "", "A value", "test"};

inline constexpr core::MetricDesc kUnexported{
    "rdma_test_unexported", core::MetricType::gauge, "device", "", "A value", "test", core::MetricSet::full};

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
  explicit TestJob(std::string device, std::string_view collector = "test")
      : Job(collector, std::move(device)) {}
  void run(core::JobRun& run) override {
    ++runs;
    if (on_run) on_run();
    gate.pass();
    std::this_thread::sleep_for(delay.load());
    if (throws) throw std::runtime_error("broken");
    for (unsigned i = 0; i < errors; ++i) run.count_read_error("EIO");
    for (unsigned i = 0; i < unexported; ++i)
      run.samples().add(kUnexported, "device=\"" + device() + "\"" + std::string(i, ' '), std::uint64_t{1});
    for (unsigned i = 0; i < series; ++i)
      run.samples().add(kValue, "device=\"" + device() + "\"" + std::string(i, ' '), std::uint64_t{value});
  }
  Gate gate;
  std::function<void()> on_run;  ///< set it between two collections
  std::atomic<int> runs = 0;
  std::atomic<unsigned> value = 1;
  std::atomic<unsigned> series = 1;
  std::atomic<unsigned> unexported = 0;  ///< series beyond the engine's metric set
  std::atomic<unsigned> errors = 0;
  std::atomic<bool> throws = false;
  std::atomic<std::chrono::milliseconds> delay = 0ms;
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
    engine_ = std::make_unique<Engine>(io_, source_,
                                       EngineOptions{.max_workers = 8,
                                                     .set = core::MetricSet::lean,
                                                     .series_per_device = 10,
                                                     .page_bytes = 100'000,
                                                     .pages = pages_,
                                                     .discovery_timeout = 100ms,
                                                     .tick = 5ms},
                                       families(), [this](core::SampleBatch&) { ++pages_begun_; });
  }
  ~EngineTest() override {
    a_->gate.open();
    b_->gate.open();
    source_.gate.open();
    if (engine_) {
      EXPECT_TRUE(engine_->stop(Clock::now() + 10s));
    }
  }

  static std::vector<const core::MetricDesc*> families() {
    auto all = Engine::families();
    all.push_back(&kValue);
    return all;
  }

  // Runs the loop until one scrape is answered.
  std::string scrape(std::chrono::milliseconds timeout = 10s) { return get({}, timeout)->body; }
  PagePtr get(const PageRequest& request, std::chrono::milliseconds timeout = 10s) {
    PagePtr page;
    engine_->scrape(request, Clock::now() + timeout, [&](PagePtr answer) { page = std::move(answer); });
    run_until([&] { return page != nullptr; });
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
  static std::string self(const std::string& metric, const std::string& value) {
    return "rdma_exporter_collector_" + metric + "{collector=\"test\"} " + value;
  }
  // Whether the page says that this device is missing; for `reason`, or any.
  static bool fails(const std::string& page, const std::string& device, const std::string& reason = "",
                    const std::string& collector = "test") {
    const std::string label = "rdma_exporter_collector_failing{collector=\"" + collector + "\",device=\"" +
                              device + "\",reason=\"" + reason;
    return page.find(label) != std::string::npos;
  }

  asio::io_context io_;
  std::atomic<int> pages_begun_ = 0;
  TestSource source_;
  std::shared_ptr<TestJob> a_ = std::make_shared<TestJob>("a");
  std::shared_ptr<TestJob> b_ = std::make_shared<TestJob>("b");
  std::shared_ptr<PageBudget> pages_ = std::make_shared<PageBudget>();
  std::unique_ptr<Engine> engine_;  // on the heap: the address sanitizer sees who uses it after its end
};

}  // namespace rdma_exporter::scrape
