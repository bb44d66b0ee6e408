// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/http/session_fixture.h"

namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kHealthyRequest = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kHealthy = plain("200 OK", "healthy\n");
const std::string kTooSlow = plain("408 Request Timeout", "Request Timeout\n", "Connection: close\r\n");

// A busy machine is late: nothing here has to happen within a time, but not before it. A test shortens the
// limits that it is about when they begin to count.
class HttpSessionTime : public testing::Test, protected SessionFixture {
 protected:
  HttpSessionTime() {
    context->limits.read_timeout = std::chrono::hours(1);
    context->limits.idle_timeout = std::chrono::hours(1);
    context->limits.write_timeout = std::chrono::hours(1);
    context->limits.linger = std::chrono::hours(1);
  }
  bool run_until_received(std::string_view bytes) {
    std::string all;
    const bool received_it = run_until([&] { return (all += received()).size() >= bytes.size(); });
    EXPECT_EQ(all, bytes);
    return received_it;
  }
  bool run_until_closed() {
    return run_until([this] { return !session_exists(); });
  }
};

TEST_F(HttpSessionTime, CutsARequestThatComesTooSlowlyWith408) {
  context->limits.linger = milliseconds(60);
  start();
  context->limits.read_timeout = milliseconds(60);
  const auto begin = Clock::now();
  send("GET /-/healthy HTTP/1.1\r\n");
  std::string answer;
  EXPECT_TRUE(run_until([&] {
    send("X: y\r\n");
    return !(answer += received()).empty();
  })) << "more bytes give it no more time";
  EXPECT_GE(Clock::now() - begin, milliseconds(60));
  EXPECT_EQ(answer, kTooSlow);
  EXPECT_TRUE(run_until_closed());
}

TEST_F(HttpSessionTime, CutsALaterRequestOfTheConnectionToo) {
  start();
  send("GET /-/hea");
  EXPECT_EQ(exchange("lthy HTTP/1.1\r\nHost: h\r\n\r\n"), kHealthy);
  context->limits.read_timeout = milliseconds(60);
  send("GET /-/hea");
  EXPECT_TRUE(run_until_received(kTooSlow));
}

TEST_F(HttpSessionTime, CutsABodyThatDoesNotComeWith408) {
  start();
  context->limits.read_timeout = milliseconds(60);
  send("GET /-/healthy HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
  EXPECT_TRUE(run_until_received(kTooSlow));
}

TEST_F(HttpSessionTime, ClosesAConnectionThatNeverSaysAnythingWithoutAWord) {
  context->limits.read_timeout = milliseconds(60);
  const auto begin = Clock::now();
  start();
  EXPECT_TRUE(run_until_closed());
  EXPECT_GE(Clock::now() - begin, milliseconds(60));
  EXPECT_EQ(received(), "");
}

TEST_F(HttpSessionTime, KeepsAnIdleConnectionForTheIdleTimeoutAndNoLonger) {
  context->limits.idle_timeout = milliseconds(1000);
  start();
  context->limits.read_timeout = milliseconds(60);
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
  run_for(milliseconds(300));
  const auto begin = Clock::now();
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy) << "the read timeout must not count between requests";
  EXPECT_TRUE(run_until_closed());
  EXPECT_GE(Clock::now() - begin, milliseconds(1000)) << "the idle time starts again with each response";
  EXPECT_EQ(received(), "");
}

TEST_F(HttpSessionTime, TimesTheRestOfAPipelinedRequestAsARequest) {
  start();
  context->limits.read_timeout = milliseconds(60);
  send(std::string(kHealthyRequest) + "GET /");
  EXPECT_TRUE(run_until_received(kHealthy + kTooSlow));
}

TEST_F(HttpSessionTime, WaitsForTheExporterWithoutALimitOfItsOwn) {
  context->limits.read_timeout = milliseconds(300);
  context->limits.idle_timeout = milliseconds(300);
  context->limits.write_timeout = milliseconds(300);
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  run_for(milliseconds(700));
  ASSERT_TRUE(open());
  source.held.at(0)(nullptr);
  EXPECT_EQ(received(), kNoMemory);
}

/// Takes nothing: a write never ends until the stream is closed.
struct StuckStream {
  using executor_type = Executor;
  boost::beast::test::stream inner;
  std::shared_ptr<bool> aborted = std::make_shared<bool>(false);

  Executor get_executor() { return inner.get_executor(); }
  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler handler) {
    inner.async_read_some(buffers, std::move(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers&, Handler) {}
};
void end_sending(StuckStream&) {}
void close_stream(StuckStream& stream) { stream.inner.close(); }
void abort_stream(StuckStream& stream) {
  *stream.aborted = true;
  stream.inner.close();
}

TEST_F(HttpSessionTime, GivesUpOnAClientThatDoesNotRead) {
  context->limits.write_timeout = milliseconds(60);
  boost::beast::test::stream server(io);
  auto client = boost::beast::test::connect(server);
  StuckStream stuck{std::move(server)};
  const auto aborted = stuck.aborted;
  std::make_shared<Session<StuckStream>>(std::move(stuck), context)->start();
  const auto begin = Clock::now();
  client.write_some(asio::buffer(kHealthyRequest.data(), kHealthyRequest.size()));
  EXPECT_TRUE(run_until([this] { return !open(); }));
  EXPECT_GE(Clock::now() - begin, milliseconds(60));
  EXPECT_TRUE(*aborted);
}

}  // namespace
}  // namespace rdma_exporter::http
