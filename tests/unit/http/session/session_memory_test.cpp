// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/unit/http/session_fixture.h"
#include "tests/unit/support/failing_new.h"

// Requests that find no memory, or no room for their page.
namespace rdma_exporter::http {
namespace {

constexpr std::string_view kScrape = "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";

class HttpSessionMemory : public testing::Test, protected SessionFixture {
 protected:
  std::string reasons() const {
    std::string text;
    counters.for_each_refused_request([&](std::string_view reason, std::uint64_t n) {
      if (n > 0) text.append(reason) += "=" + std::to_string(n) + " ";
    });
    return text;
  }
};

TEST_F(HttpSessionMemory, AScrapeWithoutRoomForItsPageIsRefusedAndCounted) {
  source.page = nullptr;
  start();
  EXPECT_EQ(exchange(kScrape), kNoMemory);
  EXPECT_EQ(reasons(), "memory=1 ");
  source.page = web::make_page("rdma_devices 0\n");
  EXPECT_NE(exchange(kScrape).find("200 OK"), std::string::npos) << "on the same connection";
}

TEST_F(HttpSessionMemory, NothingIsReadForAScrapeWithoutRoom) {
  source.missing = 1;
  start();
  EXPECT_EQ(exchange(kScrape), kNoMemory);
  EXPECT_TRUE(source.requests.empty());
  EXPECT_EQ(exchange("GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n"), plain("200 OK", "healthy\n"));
}

TEST_F(HttpSessionMemory, AnAllocationThatFailsCostsItsRequestOrItsConnection) {
  bool happened = true;
  long granted = 0;
  for (; happened && granted < 1000; ++granted) {
    start();
    put(kScrape);
    {
      const test::FailingNew failing(granted);
      run();
      happened = failing.happened();
    }
    const std::string answer = received();
    if (!open()) continue;
    const bool served = answer.starts_with("HTTP/1.1 200 OK\r\n") || answer == kNoMemory;
    EXPECT_TRUE(served) << granted << ": " << answer;
    EXPECT_EQ(exchange("GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n"), plain("200 OK", "healthy\n"))
        << granted;
    close_client();
  }
  EXPECT_GT(granted, 5) << "it needs some memory";
  EXPECT_FALSE(happened);
}

}  // namespace
}  // namespace rdma_exporter::http
