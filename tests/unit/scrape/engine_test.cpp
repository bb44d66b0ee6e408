// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "tests/unit/scrape/engine_fixture.h"

namespace rdma_exporter::scrape {
namespace {

TEST_F(EngineTest, ServesWhatAllJobsFound) {
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
  EXPECT_TRUE(has(page, self("success", "1")));
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
  EXPECT_TRUE(has(page, self("success", "0")));
  EXPECT_TRUE(fails(page, "a", "late"));
  EXPECT_TRUE(has(page, self("timeouts_total", "1")));
  EXPECT_FALSE(fails(page, "b"));
  EXPECT_TRUE(fails(scrape(50ms), "a", "busy"));
}

// As a reload does. The loop finds, in this order: the pages that are to be delivered, the reload, and the
// deadline of the scrape, which expired before it was cancelled.
TEST_F(EngineTest, MayEndWhileATimerThatHasExpiredWaitsForItsTurn) {
  a_->gate.close();
  const auto deadline = Clock::now() + 50ms;
  bool answered = false;
  engine_->scrape({}, deadline, [&](const PagePtr&) { answered = true; });
  boost::asio::steady_timer reload(io_, deadline - 1ms);
  bool answered_before = false;
  reload.async_wait([&](const boost::system::error_code&) {
    answered_before = answered;
    engine_.reset();
  });
  a_->gate.open();
  while (pages_begun_ == 0) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(engine_->stop(Clock::now() + 10s));  // the page has been made, and handed to the loop
  std::this_thread::sleep_until(deadline + 1ms);
  io_.run_for(10s);
  EXPECT_FALSE(engine_);
  EXPECT_TRUE(answered_before) << "the order that the test is about";
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
  EXPECT_TRUE(has(page, self("success", "1")));
  EXPECT_FALSE(fails(page, "a"));
}

TEST_F(EngineTest, GoesOnWithoutAJobThatIsOverItsOwnTimeout) {
  source_.timeout = 50ms;
  source_.set({a_, b_});
  a_->gate.close();
  const auto start = Clock::now();
  const std::string page = scrape(10s);
  EXPECT_LT(Clock::now() - start, 5s);
  EXPECT_TRUE(has(page, self("timeouts_total", "1")));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, JoinsConcurrentScrapes) {
  a_->gate.close();
  std::vector<PagePtr> pages;
  for (int i = 0; i < 20; ++i)
    engine_->scrape({}, Clock::now() + 10s, [&](const PagePtr& page) { pages.push_back(page); });
  run_until([&] { return b_->runs > 0; });
  a_->gate.open();
  run_until([&] { return pages.size() == 20; });
  for (const auto& page : pages) EXPECT_EQ(page, pages.front());
  EXPECT_EQ(a_->runs, 1);
  EXPECT_TRUE(has(pages.front()->body, "rdma_exporter_scrapes_total 1"));
}

TEST_F(EngineTest, AnswersAJoiningScrapeAtItsOwnEarlierDeadline) {
  a_->gate.close();
  bool first = false;
  bool second = false;
  engine_->scrape({}, Clock::now() + 10s, [&](const PagePtr&) { first = true; });
  engine_->scrape({}, Clock::now() + 50ms, [&](const PagePtr&) { second = true; });
  run_until([&] { return second; });
  EXPECT_FALSE(first);
  a_->gate.open();
  run_until([&] { return first; });
}

TEST_F(EngineTest, EndsACollectionAtTheDeadlineOfTheScrapeThatStartedIt) {
  a_->gate.close();
  bool first = false;
  bool second = false;
  const auto start = Clock::now();
  engine_->scrape({}, start + 50ms, [&](const PagePtr&) { first = true; });
  engine_->scrape({}, start + 10s, [&](const PagePtr&) { second = true; });
  run_until([&] { return first && second; });
  EXPECT_LT(Clock::now() - start, 3s) << "before the job's own timeout";
}

TEST_F(EngineTest, SurvivesAJobThatThrows) {
  a_->throws = true;
  const std::string page = scrape();
  EXPECT_TRUE(fails(page, "a", "failed"));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EngineTest, CallsAJobThatReadNothingAFailure) {
  a_->errors = 2;
  std::string page = scrape();
  EXPECT_TRUE(has(page, self("success", "1"))) << "single reads cost their samples";
  a_->series = 0;
  page = scrape();
  EXPECT_TRUE(fails(page, "a", "failed"));
  EXPECT_FALSE(fails(page, "b"));
  a_->unexported = 1;
  EXPECT_FALSE(fails(scrape(), "a")) << "it has read what nobody exports";
  a_->unexported = 0;
  a_->errors = 0;
  EXPECT_TRUE(has(scrape(), self("success", "1"))) << "there is nothing to read";
}

TEST_F(EngineTest, UsesTheJobsItKnowsWhileDiscoveryIsStuck) {
  scrape();
  source_.gate.close();
  const std::string page = scrape();
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 1"));
  EXPECT_TRUE(has(page, "rdma_exporter_collector_success{collector=\"discovery\"} 0"));
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

TEST_F(EngineTest, SharesTheSeriesOfADeviceAmongItsCollectors) {
  const auto more = std::make_shared<TestJob>("a", "more");
  source_.set({a_, more, b_});
  a_->series = 4;
  more->series = 6;
  scrape();
  EXPECT_EQ(scrape().find("rdma_exporter_series_dropped_total{"), std::string::npos) << "they fit exactly";
  more->unexported = 5;
  EXPECT_EQ(scrape().find("rdma_exporter_series_dropped_total{"), std::string::npos);
  more->series = 7;
  scrape();
  EXPECT_NE(scrape().find("rdma_exporter_series_dropped_total{"), std::string::npos);
}

TEST_F(EngineTest, FollowsJobsThatComeAndGo) {
  scrape();
  source_.set({b_});
  const std::string page = scrape();
  EXPECT_EQ(page.find("device=\"a\""), std::string::npos);
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"b\"} 1"));
}

// The runs of a collection are used again by the next one.
TEST_F(EngineTest, ARunThatFailedLeavesNothingToTheNext) {
  a_->errors = 3;
  a_->throws = true;
  EXPECT_TRUE(fails(scrape(), "a", "failed"));
  a_->throws = false;
  scrape();
  a_->errors = 0;
  a_->value = 2;
  const std::string page = scrape();
  EXPECT_FALSE(fails(page, "a"));
  EXPECT_TRUE(has(page, "rdma_test_value{device=\"a\"} 2"));
  EXPECT_EQ(page.find("rdma_test_value{device=\"a\"} 1"), std::string::npos);
  EXPECT_TRUE(has(page, "rdma_exporter_read_errors_total{collector=\"test\",device=\"a\",reason=\"EIO\"} 3"));
}

TEST_F(EngineTest, LetsGoOfAJobAsSoonAsItsDeviceHasGone) {
  auto gone = std::make_shared<TestJob>("gone");
  source_.set({a_, gone, b_});
  scrape();
  source_.set({a_, b_});
  scrape();
  for (int i = 0; i < 2000 && gone.use_count() > 1; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(gone.use_count(), 1) << "it keeps files open";
}

TEST_F(EngineTest, AnswersWithItsOwnMetricsWhenThereAreNoJobs) {
  source_.set({});
  EXPECT_TRUE(has(scrape(), "rdma_exporter_scrapes_total 1"));
}

}  // namespace
}  // namespace rdma_exporter::scrape
