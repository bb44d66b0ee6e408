// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
// Scrapes that request only some collectors.
#include "tests/unit/scrape/engine_fixture.h"

namespace rdma_exporter::scrape {
namespace {

class EngineFilterTest : public EngineTest {
 protected:
  EngineFilterTest() { source_.set({a_, b_, other_}); }
  ~EngineFilterTest() override { other_->gate.open(); }

  static PageRequest only(const char* collector) { return {.collectors = Selection({collector})}; }
  void want(const PageRequest& request, PagePtr& page, std::chrono::milliseconds timeout = 10s) {
    engine_->scrape(request, Clock::now() + timeout, [&page](PagePtr answer) { page = std::move(answer); });
  }
  static bool has_device(const PagePtr& page, const std::string& device) {
    return has(page->body, "rdma_test_value{device=\"" + device + "\"} 1");
  }

  std::shared_ptr<TestJob> other_ = std::make_shared<TestJob>("c", "other");
};

TEST_F(EngineFilterTest, ReadsAndReportsNothingOfOtherCollectors) {
  const PagePtr page = get(only("test"));
  EXPECT_TRUE(has_device(page, "a"));
  EXPECT_EQ(page->body.find("other"), std::string::npos) << page->body;
  EXPECT_EQ(other_->runs, 0);
  EXPECT_TRUE(has(page->body, "rdma_exporter_scrapes_total 1")) << "the exporter's own are always there";
  EXPECT_NE(page->body.find("collector=\"discovery\""), std::string::npos);
}

TEST_F(EngineFilterTest, IsNotHeldUpByACollectorThatIsLeftOut) {
  other_->gate.close();
  EXPECT_TRUE(has_device(get(only("test")), "a"));
  EXPECT_TRUE(has_device(get(only("test")), "b"));
}

TEST_F(EngineFilterTest, AddsTheJobsOfAScrapeThatJoins) {
  a_->gate.close();
  PagePtr narrow;
  PagePtr wide;
  want(only("test"), narrow);
  run_until([&] { return a_->runs > 0; });
  want({}, wide);
  run_until([&] { return other_->runs > 0; });
  a_->gate.open();
  run_until([&] { return narrow && wide; });
  EXPECT_EQ(a_->runs, 1) << "one collection";
  EXPECT_TRUE(has_device(wide, "a"));
  EXPECT_TRUE(has_device(wide, "c"));
  EXPECT_FALSE(has_device(narrow, "c")) << "it did not ask for that";
  EXPECT_TRUE(has_device(narrow, "a"));
}

TEST_F(EngineFilterTest, AddsTheJobsOfAScrapeThatJoinsBeforeTheyAreKnown) {
  source_.gate.close();
  PagePtr narrow;
  PagePtr other;
  want(only("test"), narrow);
  want(only("other"), other);
  source_.gate.open();
  run_until([&] { return narrow && other; });
  EXPECT_TRUE(has_device(narrow, "a"));
  EXPECT_FALSE(has_device(narrow, "c"));
  EXPECT_TRUE(has_device(other, "c"));
  EXPECT_FALSE(has_device(other, "a"));
}

// The first collection is over, but nobody has been told yet, because the loop does not run.
TEST_F(EngineFilterTest, StartsAnotherCollectionForAScrapeThatCameTooLateToJoin) {
  PagePtr narrow;
  PagePtr wide;
  want(only("test"), narrow);
  const auto limit = Clock::now() + 20s;
  while (!(a_->runs > 0 && b_->runs > 0) && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  want({}, wide);
  run_until([&] { return narrow && wide; });
  EXPECT_TRUE(has_device(narrow, "a"));
  EXPECT_TRUE(has_device(wide, "a"));
  EXPECT_TRUE(has_device(wide, "c"));
  EXPECT_EQ(other_->runs, 1);
}

TEST_F(EngineFilterTest, AnswersAScrapeThatCameTooLateAtItsDeadline) {
  other_->gate.close();
  PagePtr narrow;
  PagePtr wide;
  want(only("test"), narrow);
  const auto limit = Clock::now() + 20s;
  while (!(a_->runs > 0 && b_->runs > 0) && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  want({}, wide, 100ms);
  run_until([&] { return narrow && wide; });
  EXPECT_TRUE(has_device(wide, "a"));
}

// The loop does not run: the first collection is over, its deadline too, and nobody has been told.
TEST_F(EngineFilterTest, GivesAScrapeThatCameTooLateToJoinItsOwnDeadline) {
  PagePtr narrow;
  PagePtr wide;
  want(only("test"), narrow, 150ms);
  const auto limit = Clock::now() + 20s;
  while (!(a_->runs > 0 && b_->runs > 0) && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(200ms);
  want({}, wide, 10s);
  run_until([&] { return narrow && wide; });
  EXPECT_TRUE(has_device(wide, "c")) << "it had 10 s left";
}

TEST_F(EngineFilterTest, DoesNotJoinACollectionThatEndsTooSoonForItsOwnCollectors) {
  a_->gate.close();
  other_->delay = 300ms;
  PagePtr narrow;
  PagePtr wide;
  want(only("test"), narrow, 200ms);
  run_until([&] { return a_->runs > 0; });
  want({}, wide, 10s);
  run_until([&] { return narrow && wide; });
  EXPECT_TRUE(has_device(wide, "c")) << "it had 10 s left";
}

TEST_F(EngineFilterTest, RunsTheJobsOfEveryCollectionAnew) {
  get(only("other"));
  get({});
  get(only("test"));
  EXPECT_EQ(other_->runs, 2);
  EXPECT_EQ(a_->runs, 2);
}

}  // namespace
}  // namespace rdma_exporter::scrape
