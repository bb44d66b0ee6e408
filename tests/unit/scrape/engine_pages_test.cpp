// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
// The formats and compressions of one collection.
#include <zlib.h>

#include "tests/unit/scrape/engine_fixture.h"

namespace rdma_exporter::scrape {
namespace {

using core::Format;

class EnginePagesTest : public EngineTest {
 protected:
  // More devices, for a page that is worth compressing.
  EnginePagesTest() {
    std::vector<std::shared_ptr<TestJob>> jobs{a_, b_};
    for (int i = 0; i < 20; ++i) jobs.push_back(std::make_shared<TestJob>("c" + std::to_string(i)));
    source_.set(jobs);
  }

  std::vector<PagePtr> get_all(const std::vector<PageRequest>& requests) {
    std::vector<PagePtr> pages(requests.size());
    a_->gate.close();
    for (std::size_t i = 0; i < requests.size(); ++i)
      engine_->scrape(requests[i], Clock::now() + 10s,
                      [&pages, i](PagePtr page) { pages[i] = std::move(page); });
    a_->gate.open();
    run_until([&] {
      return std::all_of(pages.begin(), pages.end(), [](const auto& page) { return page != nullptr; });
    });
    return pages;
  }
  static std::uint64_t count(const std::string& page, const std::string& line) {
    const std::size_t at = page.find("\n" + line + " ");
    return at == std::string::npos ? 0 : std::stoull(page.substr(at + line.size() + 2));
  }
};

TEST_F(EnginePagesTest, MakesEachFormOfACollectionOnce) {
  a_->series = 10;
  b_->series = 10;
  const PageRequest packed{.gzip = true};
  const PageRequest plain{};
  const PageRequest open{.format = Format::openmetrics};
  const auto pages = get_all({packed, plain, open, packed, plain, open});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(pages[i], pages[i + 3]) << i;
  ASSERT_TRUE(pages[0]->gzip);
  EXPECT_FALSE(pages[1]->gzip);
  EXPECT_EQ(pages[2]->format, Format::openmetrics);
  EXPECT_TRUE(pages[2]->body.ends_with("# EOF\n"));
  EXPECT_EQ(a_->runs, 1);

  std::string unpacked(pages[1]->body.size(), '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string input = pages[0]->body;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  inflateEnd(&stream);
  EXPECT_TRUE(unpacked == pages[1]->body) << "the same print, compressed";
}

TEST_F(EnginePagesTest, DoesNotCompressASmallPage) {
  source_.set({});
  const PagePtr page = get({.gzip = true, .collectors = Selection({"none"})});
  ASSERT_LT(page->body.size(), 4096U);
  EXPECT_FALSE(page->gzip);
}

TEST_F(EnginePagesTest, DoesNotCompressAtADeadlineBecauseThatIsOnTheIoThread) {
  a_->gate.close();
  const PagePtr page = get({.gzip = true}, 1s);
  EXPECT_FALSE(page->gzip);
  EXPECT_TRUE(has(page->body, "rdma_test_value{device=\"b\"} 1"));
}

TEST_F(EnginePagesTest, AFormThatIsWantedWhenTheOthersAreReadyIsThatOfTheNextCollection) {
  PagePtr text;
  PagePtr open;
  PagePtr also_text;
  engine_->scrape({}, Clock::now() + 10s, [&](PagePtr page) { text = std::move(page); });
  const auto limit = Clock::now() + 20s;
  while (!(a_->runs > 0 && b_->runs > 0) && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  engine_->scrape({.format = Format::openmetrics, .gzip = true}, Clock::now() + 10s,
                  [&](PagePtr page) { open = std::move(page); });
  engine_->scrape({}, Clock::now() + 10s, [&](PagePtr page) { also_text = std::move(page); });
  run_until([&] { return text && open && also_text; });
  EXPECT_EQ(open->format, Format::openmetrics);
  EXPECT_TRUE(open->gzip) << "a worker has written it";
  EXPECT_EQ(also_text, text);
  EXPECT_EQ(a_->runs, 2);
}

TEST_F(EnginePagesTest, ObservesHowLongEachCollectionTookAndNamesTheSlowestJob) {
  const std::string count_line = "rdma_exporter_scrape_duration_seconds_count";
  EXPECT_EQ(count(scrape(), count_line), 1U);
  a_->gate.close();
  const std::string page = get({.format = Format::openmetrics}, 150ms)->body;
  EXPECT_EQ(count(page, count_line), 2U);
  EXPECT_EQ(count(page, "rdma_exporter_scrape_duration_seconds_bucket{le=\"0.1\"}"), 1U);
  EXPECT_NE(page.find("# {collector=\"test\",device=\"a\"} 0."), std::string::npos) << page;
  const std::string next = get({.format = Format::openmetrics}, 10s)->body;
  EXPECT_EQ(count(next, count_line), 3U);
}

TEST_F(EnginePagesTest, LeavesOutFamiliesOfAPageThatIsTooLongAndCountsTheirSeries) {
  std::vector<std::shared_ptr<TestJob>> jobs;
  for (int i = 0; i < 60; ++i) {
    jobs.push_back(
        std::make_shared<TestJob>(std::string(300, static_cast<char>('a' + i % 26)) + std::to_string(i)));
    jobs.back()->series = 10;
  }
  source_.set(jobs);
  scrape();
  const std::string page = scrape();
  EXPECT_EQ(page.find("rdma_test_value"), std::string::npos);
  EXPECT_EQ(count(page, "rdma_exporter_page_series_dropped_total"), 600U) << "of the page before";
  EXPECT_EQ(count(page, "rdma_exporter_scrapes_total"), 2U);
}

}  // namespace
}  // namespace rdma_exporter::scrape
