// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
// Scrapes whose memory allocations fail, at each place that allocates.
#include "tests/unit/scrape/engine_fixture.h"
#include "tests/unit/support/failing_new.h"

namespace rdma_exporter::scrape {
namespace {

class EngineMemoryTest : public EngineTest {
 protected:
  // As the daemon does it: what finds no memory costs the scrape that wanted it. Reserves what it needs
  // itself.
  bool scrape_without_memory(const PageRequest& request) {
    bool answered = false;
    try {
      engine_->scrape(request, Clock::now() + 60ms, [&answered](const PagePtr&) { answered = true; });
    } catch (const std::bad_alloc&) {
      return true;
    }
    const auto limit = Clock::now() + 20s;
    while (!answered && Clock::now() < limit) {
      try {
        io_.restart();
        io_.run_one_for(10ms);
      } catch (const std::bad_alloc&) {
        continue;
      }
    }
    return answered;
  }
};

TEST_F(EngineMemoryTest, CostTheirPageAndNothingElse) {
  scrape();
  for (const PageRequest& request :
       {PageRequest{}, PageRequest{.gzip = true, .collectors = Selection({"test"})}}) {
    bool happened = true;
    bool answered = false;
    long granted = 0;
    for (; happened && granted < 5000; ++granted) {
      {
        const test::FailingNew failing(granted);
        answered = scrape_without_memory(request);
        happened = failing.happened();
      }
      ASSERT_TRUE(answered) << granted;
      const PagePtr next = get(request);
      ASSERT_TRUE(has(next->body, "rdma_test_value{device=\"a\"} 1")) << granted << "\n" << next->body;
      ASSERT_TRUE(has(next->body, "rdma_test_value{device=\"b\"} 1")) << granted;
    }
    EXPECT_GT(granted, 20) << "it needs some memory";
    EXPECT_FALSE(happened);
  }
}

TEST_F(EngineMemoryTest, GoOnWhenThereIsMemoryAgain) {
  scrape();
  for (long granted = 0; granted < 100; granted += 7) {
    bool answered = false;
    {
      const test::FailingNew failing(granted, 1'000'000'000);
      answered = scrape_without_memory({});
    }
    ASSERT_TRUE(answered) << granted;
    ASSERT_TRUE(has(scrape(), "rdma_test_value{device=\"a\"} 1")) << granted;
  }
}

}  // namespace
}  // namespace rdma_exporter::scrape
