// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "tests/unit/http/session_fixture.h"

namespace rdma_exporter::web {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class WebRoutes : public testing::Test {
 protected:
  http::Response get(std::string target, http::Method method = http::Method::get) {
    std::optional<http::Response> response;
    routes.handle(http::Request{method, std::move(target), {}},
                  [&](http::Response r) { response = std::move(r); });
    return response.value();
  }

  FakeSource source;
  Routes routes{source, {"/rdma", {milliseconds(8000), milliseconds(500)}}};
};

TEST_F(WebRoutes, ServesTheMetricsAtTheConfiguredPathOnly) {
  EXPECT_EQ(get("/rdma").body.get(), &source.page->body);
  EXPECT_EQ(get("/rdma?debug=1").body.get(), &source.page->body);
  EXPECT_EQ(get("http://host:9400/rdma").body.get(), &source.page->body);
  EXPECT_EQ(get("/metrics").status, 404U);
  EXPECT_EQ(get("/rdma/").status, 404U);
  EXPECT_EQ(get("/rdm").status, 404U);
  EXPECT_EQ(get("*").status, 404U);
}

TEST_F(WebRoutes, GivesTheSourceWhatTheClientWants) {
  http::Request request{http::Method::get, "/rdma?exclude[]=port", {}};
  request.accept = "application/openmetrics-text";
  request.accept_encoding = "gzip";
  routes.handle(request, [](const http::Response&) {});
  ASSERT_EQ(source.requests.size(), 1U);
  EXPECT_EQ(source.requests[0].format, core::Format::openmetrics);
  EXPECT_TRUE(source.requests[0].gzip);
  EXPECT_EQ(source.requests[0].filter.exclude, std::vector<std::string>{"port"});
}

// The page says what it is, because it need not be what was asked for.
TEST_F(WebRoutes, SaysWhatThePageIs) {
  source.page = std::make_shared<const core::Page>(core::Page{"x", core::Format::openmetrics, true});
  const http::Response packed = get("/rdma");
  EXPECT_EQ(packed.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(packed.extra_headers, "Vary: Accept, Accept-Encoding\r\nContent-Encoding: gzip\r\n");
  source.page = std::make_shared<const core::Page>(core::Page{"x", core::Format::text, false});
  const http::Response plain_page = get("/rdma");
  EXPECT_EQ(plain_page.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(plain_page.extra_headers, "Vary: Accept, Accept-Encoding\r\n");
}

TEST_F(WebRoutes, PagesForPeopleMayNotRunOrLoadAnything) {
  const http::Response view = get("/");
  EXPECT_EQ(view.body.get(), &source.host_page_body->body);
  EXPECT_EQ(view.content_type, "text/html; charset=utf-8");
  EXPECT_NE(view.extra_headers.find("Content-Security-Policy: default-src 'none'"), std::string_view::npos);
  EXPECT_EQ(view.extra_headers.find("attachment"), std::string_view::npos);
  const http::Response report = get("/report");
  EXPECT_NE(report.extra_headers.find("Content-Security-Policy: default-src 'none'"), std::string_view::npos);
  EXPECT_NE(report.extra_headers.find("Content-Disposition: attachment; filename=\"rdma-report.html\""),
            std::string_view::npos);
  using Kind = MetricsSource::HostPage;
  EXPECT_EQ(source.host_pages, (std::vector{Kind::view, Kind::report}));
  EXPECT_EQ(get("/report", http::Method::post).status, 405U);
}

TEST_F(WebRoutes, ServesTheSessionsOfTheProbeAsJson) {
  const http::Response probe = get("/probe");
  EXPECT_EQ(probe.body.get(), &source.host_page_body->body);
  EXPECT_EQ(probe.content_type, "application/json");
  EXPECT_NE(probe.extra_headers.find("Cache-Control: no-store"), std::string_view::npos);
  EXPECT_EQ(source.host_pages, (std::vector{MetricsSource::HostPage::probe}));
  EXPECT_EQ(get("/probe", http::Method::post).status, 405U);
}

TEST_F(WebRoutes, PagesForPeopleAreAdmittedAsMetricsAre) {
  source.missing = 17;
  for (const char* path : {"/", "/report", "/probe", "/rdma"})
    EXPECT_EQ(routes.missing_room(http::Request{http::Method::get, path, {}}), 17U) << path;
  EXPECT_EQ(routes.missing_room(http::Request{http::Method::get, "/-/healthy", {}}), 0U);
  source.host_page_body = nullptr;
  EXPECT_EQ(get("/").status, 503U);
}

TEST_F(WebRoutes, TellsTheClientWhatIsWrongWithItsFilter) {
  const http::Response both = get("/rdma?collect[]=a&exclude[]=b");
  EXPECT_EQ(both.status, 400U);
  EXPECT_TRUE(source.requests.empty());
  FakeSource refusing;
  refusing.hold = true;
  Routes to_refusing(refusing, {"/rdma"});
  std::optional<http::Response> response;
  to_refusing.handle(http::Request{http::Method::get, "/rdma?collect[]=a", {}},
                     [&](http::Response r) { response = std::move(r); });
  refusing.held.at(0)(core::config_error("unknown collector"));
  EXPECT_EQ(response.value().status, 400U);
  EXPECT_EQ(*response.value().body, "unknown collector\n");
}

TEST_F(WebRoutes, SaysReadyAs200AndNotReadyAs503) {
  EXPECT_EQ(get("/-/ready").status, 200U);
  source.is_ready = false;
  EXPECT_EQ(get("/-/ready").status, 503U);
  EXPECT_EQ(get("/-/healthy").status, 200U);
}

TEST_F(WebRoutes, NeedsNoDeviceForAnythingButTheMetrics) {
  get("/");
  get("/-/healthy");
  get("/-/ready");
  get("/nowhere");
  get("/rdma", http::Method::other);
  EXPECT_TRUE(source.deadlines.empty());
}

TEST_F(WebRoutes, LetsTheMetricsWinWhenTheyAreServedAtTheRoot) {
  Routes at_root(source, {"/"});
  std::optional<http::Response> response;
  at_root.handle(http::Request{http::Method::get, "/", {}},
                 [&](http::Response r) { response = std::move(r); });
  EXPECT_EQ(response.value().body.get(), &source.page->body);
}

TEST_F(WebRoutes, ReloadsOnPostOnlyAndOnlyWhenAllowed) {
  EXPECT_EQ(get("/-/reload").status, 405U);
  EXPECT_EQ(get("/-/reload").extra_headers, "Allow: POST\r\n");
  EXPECT_EQ(get("/-/reload", http::Method::post).status, 403U);
  EXPECT_EQ(source.reloads, 0);
  routes.configure({.telemetry_path = "/rdma", .timeouts = {}, .lifecycle = true});
  EXPECT_EQ(get("/-/reload").status, 405U);
  EXPECT_EQ(get("/-/reload", http::Method::post).status, 200U);
  EXPECT_EQ(source.reloads, 1);
}

TEST_F(WebRoutes, TellsWhyTheConfigurationWasNotLoaded) {
  routes.configure({.telemetry_path = "/rdma", .timeouts = {}, .lifecycle = true});
  source.reload_result = core::config_error("x.yml:3: web: unknown key");
  const http::Response response = get("/-/reload", http::Method::post);
  EXPECT_EQ(response.status, 500U);
  EXPECT_EQ(*response.body, "x.yml:3: web: unknown key\n");
}

TEST_F(WebRoutes, GivesTheSourceTheDeadlineOfTheClient) {
  const auto before = steady_clock::now();
  routes.handle(http::Request{http::Method::get, "/rdma", "5"}, [](const http::Response&) {});
  const auto after = steady_clock::now();
  ASSERT_EQ(source.deadlines.size(), 1U);
  EXPECT_GE(source.deadlines[0], before + milliseconds(4500));
  EXPECT_LE(source.deadlines[0], after + milliseconds(4500));
}

TEST(WebRequest, TakesThePathOutOfTheTarget) {
  const auto path = [](std::string target) {
    return std::string(http::Request{http::Method::get, std::move(target), {}}.path());
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

TEST(WebRequest, TakesTheQueryOutOfTheTarget) {
  const auto query = [](std::string target) {
    return std::string(http::Request{http::Method::get, std::move(target), {}}.query());
  };
  EXPECT_EQ(query("/metrics"), "");
  EXPECT_EQ(query("/metrics?a=b?c"), "a=b?c");
  EXPECT_EQ(query("http://h/metrics?x#f"), "x");
  EXPECT_EQ(query("?"), "");
}

TEST(WebSessionHeaders, TakesSeveralOfOneNameForOneList) {
  http::SessionFixture fixture;
  fixture.start();
  fixture.send(
      "GET /metrics HTTP/1.1\r\nHost: h\r\nAccept: text/plain;q=0.1\r\nAccept-Encoding: br\r\n"
      "accept: application/openmetrics-text\r\naccept-encoding: gzip\r\n\r\n");
  fixture.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_EQ(fixture.source.requests.size(), 2U);
  EXPECT_EQ(fixture.source.requests[0].format, core::Format::openmetrics);
  EXPECT_TRUE(fixture.source.requests[0].gzip);
  EXPECT_EQ(fixture.source.requests[1].format, core::Format::text) << "a request does not inherit headers";
  EXPECT_FALSE(fixture.source.requests[1].gzip);
}

TEST(WebSessionDeadline, ComesFromTheHeaderOfTheRequestWhateverItsCase) {
  http::SessionFixture fixture;
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

TEST(WebSessionDeadline, DoesNotComeFromATrailerBehindTheBody) {
  http::SessionFixture fixture;
  fixture.start();
  const auto before = steady_clock::now();
  fixture.send(
      "GET /metrics HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\nX-Prometheus-Scrape-Timeout-Seconds: 2\r\n\r\n");
  ASSERT_EQ(fixture.source.deadlines.size(), 1U);
  EXPECT_GE(fixture.source.deadlines[0], before + milliseconds(8000));
}

}  // namespace
}  // namespace rdma_exporter::web
