// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/http/session_fixture.h"

namespace rdma_exporter::http {
namespace {

class HttpSession : public testing::Test, protected SessionFixture {};

constexpr std::string_view kClose = "Connection: close\r\n";
constexpr std::string_view kHealthyRequest = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kHealthy = plain("200 OK", "healthy\n");

TEST_F(HttpSession, AnswersAGetOfTheMetricsWithTheseBytes) {
  start();
  EXPECT_EQ(exchange("GET /metrics HTTP/1.1\r\nHost: host:9400\r\nAccept: */*\r\n\r\n"),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 15\r\n"
            "Vary: Accept, Accept-Encoding\r\n"
            "\r\n"
            "rdma_devices 0\n");
  EXPECT_TRUE(open());
}

TEST_F(HttpSession, AnswersAHeadWithTheHeadersOfItsGetAndNoBody) {
  start();
  EXPECT_EQ(exchange("HEAD /metrics HTTP/1.1\r\nHost: h\r\n\r\n"),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 15\r\n"
            "Vary: Accept, Accept-Encoding\r\n"
            "\r\n");
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
}

TEST_F(HttpSession, AnswersTheLandingPageAsHtmlThatMayRunNothing) {
  start();
  EXPECT_EQ(
      exchange("GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
      "HTTP/1.1 200 OK\r\n"
      "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
      "Content-Type: text/html; charset=utf-8\r\n"
      "Content-Length: 27\r\n"
      "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "Cache-Control: no-store\r\n"
      "\r\n"
      "<html>rdma_exporter</html>\n");
}

TEST_F(HttpSession, ServesSeveralRequestsOnOneConnection) {
  start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
}

TEST_F(HttpSession, ClosesAfterTheResponseWhenTheClientAsksForIt) {
  start();
  EXPECT_EQ(exchange("GET /-/healthy HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
            plain("200 OK", "healthy\n", kClose));
  EXPECT_FALSE(open());
}

TEST_F(HttpSession, ClosesAConnectionOfHttp10AfterItsResponse) {
  start();
  EXPECT_EQ(exchange("GET /-/healthy HTTP/1.0\r\n\r\n"), plain("200 OK", "healthy\n", kClose));
  EXPECT_FALSE(open());
}

TEST_F(HttpSession, AnnouncesThatAConnectionOfHttp10StaysWhenTheClientAsksForIt) {
  start();
  EXPECT_EQ(exchange("GET /-/healthy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            plain("200 OK", "healthy\n", "Connection: keep-alive\r\n"));
  EXPECT_TRUE(open());
}

TEST_F(HttpSession, ServesARequestThatComesByteByByte) {
  start();
  const std::string_view request = kHealthyRequest;
  for (std::size_t i = 0; i + 1 < request.size(); ++i) EXPECT_EQ(exchange(request.substr(i, 1)), "");
  EXPECT_EQ(exchange(request.substr(request.size() - 1)), kHealthy);
}

TEST_F(HttpSession, AnswersPipelinedRequestsInOrderAlsoWhenTheFirstTakesLonger) {
  start();
  source.hold = true;
  EXPECT_EQ(exchange("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"
                     "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n"
                     "GET /no HTTP/1.1\r\nHost: h\r\n\r\n"),
            "");
  source.held.at(0)(web::make_page("late 1\n"));
  EXPECT_EQ(received(),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 7\r\n"
            "Vary: Accept, Accept-Encoding\r\n"
            "\r\n"
            "late 1\n" +
                kHealthy + plain("404 Not Found", "not found; the metrics are at /metrics\n"));
}

TEST_F(HttpSession, ClosesAfterSoManyRequestsAndSaysSoWithTheLast) {
  context->limits.max_requests = 2;
  start();
  EXPECT_EQ(
      exchange(std::string(kHealthyRequest) + std::string(kHealthyRequest) + std::string(kHealthyRequest)),
      kHealthy + plain("200 OK", "healthy\n", "Connection: close\r\n"));
  close_client();
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSession, ServesMorePipelinedRequestsThanFitItsBuffer) {
  context->limits.max_requests = 1001;
  start();
  std::string requests;
  std::string responses;
  for (int i = 0; i < 1000; ++i) {
    requests += kHealthyRequest;
    responses += kHealthy;
  }
  EXPECT_EQ(exchange(requests), responses);
}

TEST_F(HttpSession, AnswersAnUnknownPathWith404AndAnotherMethodWith405) {
  start();
  EXPECT_EQ(exchange("GET /metrics/ HTTP/1.1\r\nHost: h\r\n\r\n"),
            plain("404 Not Found", "not found; the metrics are at /metrics\n"));
  EXPECT_EQ(exchange("DELETE /metrics HTTP/1.1\r\nHost: h\r\n\r\n"),
            plain("405 Method Not Allowed", "method not allowed\n", "Allow: GET, HEAD\r\n"));
  EXPECT_EQ(exchange("BREW /-/ready HTTP/1.1\r\nHost: h\r\n\r\n"),
            plain("405 Method Not Allowed", "method not allowed\n", "Allow: GET, HEAD\r\n"));
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
}

TEST_F(HttpSession, CountsItsResponsesByStatus) {
  start();
  exchange(kHealthyRequest);
  exchange(kHealthyRequest);
  exchange("GET /no HTTP/1.1\r\nHost: h\r\n\r\n");
  exchange("nonsense\r\n\r\n");
  std::string counted;
  counters.for_each_status([&](unsigned status, std::uint64_t n) {
    counted += std::to_string(status) + ":" + std::to_string(n) + " ";
  });
  EXPECT_EQ(counted, "200:2 400:1 404:1 500:0 503:0 ");
}

TEST_F(HttpSession, AnswersWith500WhenTheExporterThrowsAndGoesOn) {
  start();
  source.throws = true;
  EXPECT_EQ(exchange("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"),
            plain("500 Internal Server Error", "internal error, see the log of the exporter\n"));
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
}

TEST_F(HttpSession, TakesTheFirstOfTwoAnswers) {
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  source.held.at(0)(nullptr);
  source.held.at(0)(source.page);
  EXPECT_EQ(received(), kNoMemory);
}

TEST_F(HttpSession, AnswersAClientThatHasSentAllItHadToSay) {
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  close_client();
  EXPECT_TRUE(open());
  source.held.at(0)(nullptr);
  EXPECT_EQ(received(), kNoMemory);
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSession, DropsAnAnswerThatComesAfterTheClientHasGone) {
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  lose_client();
  source.held.at(0)(source.page);
  run();
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSession, IsGoneWhenTheClientHasGone) {
  start();
  exchange(kHealthyRequest);
  EXPECT_TRUE(session_exists());
  close_client();
  EXPECT_FALSE(session_exists());
}

TEST(HttpSessionLifetime, DropsAnAnswerThatComesAfterTheEventLoopHasGone) {
  std::vector<web::MetricsSource::Answer> held;
  {
    SessionFixture fixture;
    fixture.source.hold = true;
    fixture.start();
    fixture.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
    held = std::move(fixture.source.held);
  }
  ASSERT_EQ(held.size(), 1U);
  held[0](web::make_page("x 1\n"));
}

TEST_F(HttpSession, StopClosesAnIdleConnectionAtOnce) {
  start();
  exchange(kHealthyRequest);
  stop();
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSession, StopClosesAConnectionWhoseRequestIsNotWhole) {
  start();
  send("GET /met");
  stop();
  EXPECT_EQ(received(), "");
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSession, StopLetsAResponseInFlightFinishAndSaysThatItIsTheLast) {
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  stop();
  EXPECT_TRUE(open());
  source.held.at(0)(source.page);
  EXPECT_EQ(received(),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 15\r\n"
            "Vary: Accept, Accept-Encoding\r\n"
            "Connection: close\r\n"
            "\r\n"
            "rdma_devices 0\n");
  EXPECT_FALSE(session_exists());
}

}  // namespace
}  // namespace rdma_exporter::http
