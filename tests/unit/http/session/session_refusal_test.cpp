// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "tests/unit/http/session_fixture.h"

// Requests that a session must not serve, and what it says to them.
namespace rdma_exporter::http {
namespace {

class HttpSessionRefusal : public testing::Test, protected SessionFixture {
 protected:
  /// The response to `bytes` on a connection of its own, which has to end there.
  std::string refusal(std::string_view bytes) {
    start();
    const std::string answer = exchange(bytes);
    close_client();
    EXPECT_FALSE(session_exists());
    return answer;
  }
  /// The reasons of the requests that were refused: "malformed=2 ".
  std::string reasons() const {
    std::string text;
    counters.for_each_refused_request([&](std::string_view reason, std::uint64_t n) {
      if (n > 0) text.append(reason) += "=" + std::to_string(n) + " ";
    });
    return text;
  }
  std::string headers(std::size_t bytes) { return "X-Long: " + std::string(bytes - 10, 'x') + "\r\n"; }
};

constexpr std::string_view kClose = "Connection: close\r\n";
const std::string kBad = plain("400 Bad Request", "Bad Request\n", kClose);
const std::string kTooLarge = plain("413 Content Too Large", "Content Too Large\n", kClose);
const std::string kHeaderTooLarge =
    plain("431 Request Header Fields Too Large", "Request Header Fields Too Large\n", kClose);
const std::string kHealthy = plain("200 OK", "healthy\n");

TEST_F(HttpSessionRefusal, SaysBadRequestToWhatIsNotHttp) {
  for (const std::string_view bytes : {
           "nonsense\r\n\r\n",
           "\r\n\r\n",
           "GET\r\n\r\n",
           "GET /metrics\r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET / HTTP/1.1\nHost: h\n\n",
           "GET / HTTP/1.1\r\nHost h\r\n\r\n",
           "GET / HTTP/1.1\r\nHost : h\r\n\r\n",
           "GET / FTP/1.1\r\nHost: h\r\n\r\n",
           "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
       }) {
    EXPECT_EQ(refusal(bytes), kBad) << bytes;
  }
}

TEST_F(HttpSessionRefusal, SaysBadRequestToAnotherVersionOfHttp) {
  EXPECT_EQ(refusal("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), kBad);
  EXPECT_EQ(refusal("GET / HTTP/0.9\r\nHost: h\r\n\r\n"), kBad);
  EXPECT_EQ(refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), kBad);
}

TEST_F(HttpSessionRefusal, SaysBadRequestWhenTheHostIsMissingOrThereTwice) {
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\n\r\n"), kBad);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), kBad);
}

TEST_F(HttpSessionRefusal, SaysBadRequestWhenTheEndOfTheBodyCannotBeKnown) {
  const std::string head = "POST /metrics HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refusal(head + "Transfer-Encoding: gzip\r\n\r\n"), kBad);
  EXPECT_EQ(refusal(head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"), kBad);
  EXPECT_EQ(refusal(head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), kBad);
  EXPECT_EQ(refusal(head + "Content-Length: -1\r\n\r\n"), kBad);
  EXPECT_EQ(refusal(head + "Content-Length: 18446744073709551616\r\n\r\n"), kBad);
  EXPECT_EQ(refusal(head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"), kBad);
}

TEST_F(HttpSessionRefusal, AnswersWhatCameBeforeAMalformedRequest) {
  start();
  EXPECT_EQ(exchange("GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\nnonsense\r\n\r\n"), kHealthy + kBad);
}

TEST_F(HttpSessionRefusal, ServesAHeaderOfExactlyTheLimitAndRefusesOneByteMore) {
  const std::string first = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n";
  const std::size_t room = context->limits.max_header_bytes - first.size() - 2;
  start();
  EXPECT_EQ(exchange(first + headers(room) + "\r\n"), kHealthy);
  EXPECT_EQ(exchange(first + headers(room) + "\r\n"), kHealthy);
  close_client();
  EXPECT_EQ(refusal(first + headers(room + 1) + "\r\n"), kHeaderTooLarge);
}

TEST_F(HttpSessionRefusal, HoldsToTheHeaderLimitWhenTheHeaderComesInPieces) {
  const std::string first = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n";
  const std::size_t room = context->limits.max_header_bytes - first.size() - 2;
  start();
  send(first);
  send(headers(room - 1000));
  EXPECT_EQ(exchange(headers(1000) + "\r\n"), kHealthy);
  send(first);
  send(headers(room - 1000));
  EXPECT_EQ(exchange(headers(1001) + "\r\n"), kHeaderTooLarge);
}

TEST_F(HttpSessionRefusal, RefusesAHeaderWithoutEndBeforeItHasTheWholeLimitTwice) {
  start();
  send("GET / HTTP/1.1\r\n");
  std::string answer;
  std::size_t sent = 0;
  for (; answer.empty() && sent < 100000; sent += 100) answer = exchange(headers(100));
  EXPECT_EQ(answer, kHeaderTooLarge);
  EXPECT_LE(sent, context->limits.max_header_bytes + 100);
}

TEST_F(HttpSessionRefusal, ReadsAndDropsASmallBody) {
  start();
  const std::string head = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(exchange(head + "Content-Length: 5\r\n\r\nhello" + head + "\r\n"), kHealthy + kHealthy);
  send(head + "Content-Length: 4096\r\n\r\n");
  EXPECT_EQ(received(), "");
  EXPECT_EQ(exchange(std::string(4096, 'b')), kHealthy);
  EXPECT_EQ(
      exchange(head + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nHost: t\r\n\r\n"),
      kHealthy);
  EXPECT_EQ(exchange(head + "\r\n"), kHealthy);
}

TEST_F(HttpSessionRefusal, RefusesABodyOverTheLimit) {
  const std::string head = "POST /metrics HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refusal(head + "Content-Length: 4097\r\n\r\n"), kTooLarge);
  EXPECT_EQ(refusal(head + "Transfer-Encoding: chunked\r\n\r\n1001\r\n"), kTooLarge);
  EXPECT_EQ(
      refusal(head + "Transfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(2048, 'c') + "\r\n801\r\n"),
      kTooLarge);
}

TEST_F(HttpSessionRefusal, RefusesAChunkLineWithoutEnd) {
  start();
  send("POST /metrics HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(exchange("1;" + std::string(context->limits.max_header_bytes, 'x')), kBad);
}

TEST_F(HttpSessionRefusal, TellsAClientThatAsksFirstNotToSendItsBody) {
  EXPECT_EQ(refusal("POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"),
            plain("417 Expectation Failed", "Expectation Failed\n", kClose));
}

TEST_F(HttpSessionRefusal, CountsEachRefusalByReason) {
  const std::string head = "POST /metrics HTTP/1.1\r\nHost: h\r\n";
  refusal("nonsense\r\n\r\n");
  refusal(head + headers(context->limits.max_header_bytes) + "\r\n");
  refusal(head + "Content-Length: 4097\r\n\r\n");
  refusal(head + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(reasons(), "malformed=1 header_size=1 body_size=1 expectation=1 ");
}

TEST_F(HttpSessionRefusal, CountsSlowClientsByWhatTheyAreSlowWith) {
  const auto usual = context->limits;
  for (const std::string_view bytes : {"GET /metrics HTTP/1.1\r\nHost: h\r\n",
                                       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab"}) {
    context->limits = usual;
    start();
    context->limits.read_timeout = std::chrono::milliseconds(20);  // from the first byte on
    context->limits.linger = std::chrono::milliseconds(20);
    send(bytes);
    EXPECT_TRUE(run_until([this] { return !session_exists(); }));
    EXPECT_EQ(received(), plain("408 Request Timeout", "Request Timeout\n", kClose));
  }
  EXPECT_EQ(reasons(), "header_timeout=1 body_timeout=1 ");
}

TEST_F(HttpSessionRefusal, TellsAConnectionTooManySoWithoutWaitingForARequest) {
  refuse();
  EXPECT_EQ(received(), plain("503 Service Unavailable", "too many connections\n", kClose));
  close_client();
  EXPECT_FALSE(session_exists());
}

}  // namespace
}  // namespace rdma_exporter::http
