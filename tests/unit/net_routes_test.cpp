// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "net_session_fixture.h"

namespace rdma_exporter::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class NetRoutes : public testing::Test {
 protected:
  Response get(std::string target, Method method = Method::get) {
    std::optional<Response> response;
    routes.handle(Request{method, std::move(target), {}}, [&](Response r) { response = std::move(r); });
    return response.value();
  }

  FakeSource source;
  Routes routes{source, "/rdma", Timeouts{milliseconds(8000), milliseconds(500)}};
};

TEST_F(NetRoutes, ServesTheMetricsAtTheConfiguredPathOnly) {
  EXPECT_EQ(get("/rdma").body, source.body);
  EXPECT_EQ(get("/rdma?debug=1").body, source.body);
  EXPECT_EQ(get("http://host:9400/rdma").body, source.body);
  EXPECT_EQ(get("/metrics").status, 404U);
  EXPECT_EQ(get("/rdma/").status, 404U);
  EXPECT_EQ(get("/rdm").status, 404U);
  EXPECT_EQ(get("*").status, 404U);
}

TEST_F(NetRoutes, SaysReadyAs200AndNotReadyAs503) {
  EXPECT_EQ(get("/-/ready").status, 200U);
  source.is_ready = false;
  EXPECT_EQ(get("/-/ready").status, 503U);
  EXPECT_EQ(get("/-/healthy").status, 200U);
}

TEST_F(NetRoutes, NeedsNoDeviceForAnythingButTheMetrics) {
  get("/");
  get("/-/healthy");
  get("/-/ready");
  get("/nowhere");
  get("/rdma", Method::other);
  EXPECT_TRUE(source.deadlines.empty());
}

TEST_F(NetRoutes, LetsTheMetricsWinWhenTheyAreServedAtTheRoot) {
  Routes at_root(source, "/", Timeouts());
  std::optional<Response> response;
  at_root.handle(Request{Method::get, "/", {}}, [&](Response r) { response = std::move(r); });
  EXPECT_EQ(response.value().body, source.body);
}

TEST_F(NetRoutes, GivesTheSourceTheDeadlineOfTheClient) {
  const auto before = steady_clock::now();
  routes.handle(Request{Method::get, "/rdma", "5"}, [](const Response&) {});
  const auto after = steady_clock::now();
  ASSERT_EQ(source.deadlines.size(), 1U);
  EXPECT_GE(source.deadlines[0], before + milliseconds(4500));
  EXPECT_LE(source.deadlines[0], after + milliseconds(4500));
}

TEST(NetRequest, TakesThePathOutOfTheTarget) {
  const auto path = [](std::string target) {
    return std::string(Request{Method::get, std::move(target), {}}.path());
  };
  EXPECT_EQ(path("/metrics"), "/metrics");
  EXPECT_EQ(path("/metrics?a=b?c"), "/metrics");
  EXPECT_EQ(path("?"), "");
  EXPECT_EQ(path("http://h/metrics?x"), "/metrics");
  EXPECT_EQ(path("https://h:1/"), "/");
  EXPECT_EQ(path("http://h"), "/");
  EXPECT_EQ(path("http://h?x=/metrics"), "/");
  EXPECT_EQ(path("*"), "*");
}

TEST(NetSessionDeadline, ComesFromTheHeaderOfTheRequestWhateverItsCase) {
  SessionFixture fixture;
  fixture.start();
  const auto before = steady_clock::now();
  fixture.send("GET /metrics HTTP/1.1\r\nHost: h\r\nx-prometheus-scrape-timeout-SECONDS:  2.5 \r\n\r\n");
  fixture.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  const auto after = steady_clock::now();
  ASSERT_EQ(fixture.source.deadlines.size(), 2U);
  EXPECT_GE(fixture.source.deadlines[0], before + milliseconds(2000));
  EXPECT_LE(fixture.source.deadlines[0], after + milliseconds(2000));
  EXPECT_GE(fixture.source.deadlines[1], before + milliseconds(8000))
      << "a request does not inherit the header";
}

TEST(NetSessionDeadline, DoesNotComeFromATrailerBehindTheBody) {
  SessionFixture fixture;
  fixture.start();
  const auto before = steady_clock::now();
  fixture.send(
      "GET /metrics HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\nX-Prometheus-Scrape-Timeout-Seconds: 2\r\n\r\n");
  ASSERT_EQ(fixture.source.deadlines.size(), 1U);
  EXPECT_GE(fixture.source.deadlines[0], before + milliseconds(8000));
}

}  // namespace
}  // namespace rdma_exporter::net
