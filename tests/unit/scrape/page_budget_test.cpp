// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "scrape/page_budget.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/scrape/engine_fixture.h"

namespace rdma_exporter::scrape {
namespace {

PagePtr page_of(PageBudget& budget, std::size_t bytes) {
  return budget.hold({std::string(bytes, 'x'), core::Format::text, false});
}

TEST(PageBudgetTest, CountsAPageUntilNobodyHasIt) {
  PageBudget budget(1000);
  PagePtr page = page_of(budget, 400);
  const PagePtr shared = page;
  EXPECT_GE(budget.in_flight(), 400U);
  EXPECT_LT(budget.in_flight(), 500U) << "once, however many have it";
  page.reset();
  EXPECT_GE(budget.in_flight(), 400U);
}

TEST(PageBudgetTest, HasRoomForAPageOfAnyLengthWhileThereIsNoOther) {
  PageBudget budget(1000);
  EXPECT_TRUE(budget.has_room());
  PagePtr page = page_of(budget, 5000);
  EXPECT_FALSE(budget.has_room());
  EXPECT_GE(budget.missing(), 4001U);
  page.reset();
  EXPECT_TRUE(budget.has_room());
  EXPECT_EQ(budget.in_flight(), 0U);
}

TEST(PageBudgetTest, MayGoBeforeItsPages) {
  PagePtr page;
  {
    PageBudget budget;
    page = page_of(budget, 10);
  }
  EXPECT_EQ(page->body, "xxxxxxxxxx");
}

class EnginePageBudgetTest : public EngineTest {
 protected:
  static PageRequest form(int i) { return {.collectors = Selection({"test", std::to_string(i)})}; }

  // One page of each form, as slow readers hold them.
  std::vector<PagePtr> get_forms(int count) {
    std::vector<PagePtr> pages(static_cast<std::size_t>(count));
    int answered = 0;
    a_->gate.close();
    for (int i = 0; i < count; ++i)
      engine_->scrape(form(i), Clock::now() + 10s, [&pages, &answered, i](PagePtr page) {
        pages[static_cast<std::size_t>(i)] = std::move(page);
        ++answered;
      });
    a_->gate.open();
    run_until([&] { return answered == count; });
    return pages;
  }
  bool is_refused(std::chrono::milliseconds timeout = 10s) {
    std::optional<PagePtr> answer;
    engine_->scrape({}, Clock::now() + timeout, [&](PagePtr page) { answer = std::move(page); });
    run_until([&] { return answer.has_value(); });
    return *answer == nullptr;
  }
};

TEST_F(EnginePageBudgetTest, RefusesFormsThatDoNotFitAndNoneThatIsThere) {
  const std::size_t size = get({})->body.size();
  pages_->set_limit(10 * size);
  const auto pages = get_forms(100);
  const auto made =
      std::count_if(pages.begin(), pages.end(), [](const auto& page) { return page != nullptr; });
  EXPECT_GE(made, 5);
  EXPECT_LE(made, 11);
  EXPECT_LE(pages_->in_flight(), 12 * size);
  EXPECT_TRUE(pages[0]) << "who came first is served";
}

TEST_F(EnginePageBudgetTest, MakesPagesAgainWhenSomeoneHasTakenHis) {
  pages_->set_limit(1);
  PagePtr slow = get({});
  EXPECT_TRUE(is_refused());
  EXPECT_TRUE(is_refused()) << "and it goes on so";
  slow.reset();
  EXPECT_FALSE(is_refused());
}

TEST_F(EnginePageBudgetTest, HoldsForPagesOfADeadline) {
  pages_->set_limit(1);
  PagePtr slow = get({});
  a_->gate.close();
  EXPECT_TRUE(is_refused(50ms));
  slow.reset();
  EXPECT_FALSE(is_refused(50ms));
}

TEST_F(EnginePageBudgetTest, TellsWhatIsInFlight) {
  const PagePtr first = get({});
  EXPECT_TRUE(has(first->body, "rdma_exporter_pages_in_flight_bytes 0"));
  const std::string held = std::to_string(pages_->in_flight());
  EXPECT_TRUE(has(get({})->body, "rdma_exporter_pages_in_flight_bytes " + held));
}

}  // namespace
}  // namespace rdma_exporter::scrape
