// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/http/session_fixture.h"

namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kHealthyRequest = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n";
const std::string kHealthy = plain("200 OK", "healthy\n");

class HttpSessionTime : public testing::Test, protected SessionFixture {
 protected:
  HttpSessionTime() {
    context->limits.read_timeout = milliseconds(60);
    context->limits.idle_timeout = milliseconds(200);
    context->limits.write_timeout = milliseconds(60);
    context->limits.linger = milliseconds(60);
  }
};

TEST_F(HttpSessionTime, CutsARequestThatComesTooSlowlyWith408) {
  start();
  send("GET /-/healthy HTTP/1.1\r\n");
  for (int i = 0; i < 3; ++i) {
    run_for(milliseconds(10));
    EXPECT_EQ(exchange("X: y\r\n"), "") << i;
  }
  for (int i = 0; i < 8 && open(); ++i) {
    run_for(milliseconds(10));
    send("X: y\r\n");
  }
  EXPECT_EQ(received(), plain("408 Request Timeout", "Request Timeout\n", "Connection: close\r\n"));
  run_for(milliseconds(100));
  EXPECT_FALSE(session_exists());
}

TEST_F(HttpSessionTime, CutsALaterRequestOfTheConnectionToo) {
  start();
  send("GET /-/hea");
  EXPECT_EQ(exchange("lthy HTTP/1.1\r\nHost: h\r\n\r\n"), kHealthy);
  send("GET /-/hea");
  run_for(milliseconds(100));
  EXPECT_EQ(received(), plain("408 Request Timeout", "Request Timeout\n", "Connection: close\r\n"));
}

TEST_F(HttpSessionTime, CutsABodyThatDoesNotComeWith408) {
  start();
  send("GET /-/healthy HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab");
  run_for(milliseconds(100));
  EXPECT_EQ(received(), plain("408 Request Timeout", "Request Timeout\n", "Connection: close\r\n"));
}

TEST_F(HttpSessionTime, ClosesAConnectionThatNeverSaysAnythingWithoutAWord) {
  start();
  run_for(milliseconds(30));
  EXPECT_TRUE(open());
  run_for(milliseconds(60));
  EXPECT_FALSE(session_exists());
  EXPECT_EQ(received(), "");
}

TEST_F(HttpSessionTime, KeepsAnIdleConnectionForTheIdleTimeoutAndNoLonger) {
  start();
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy);
  run_for(milliseconds(130));
  EXPECT_EQ(exchange(kHealthyRequest), kHealthy) << "the read timeout must not count between requests";
  run_for(milliseconds(130));
  EXPECT_TRUE(open()) << "the idle time starts again with each response";
  run_for(milliseconds(130));
  EXPECT_FALSE(session_exists());
  EXPECT_EQ(received(), "");
}

TEST_F(HttpSessionTime, TimesTheRestOfAPipelinedRequestAsARequest) {
  start();
  EXPECT_EQ(exchange(std::string(kHealthyRequest) + "GET /"), kHealthy);
  run_for(milliseconds(100));
  EXPECT_EQ(received(), plain("408 Request Timeout", "Request Timeout\n", "Connection: close\r\n"));
}

TEST_F(HttpSessionTime, WaitsForTheExporterWithoutALimitOfItsOwn) {
  start();
  source.hold = true;
  send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
  run_for(milliseconds(350));
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
  boost::beast::test::stream server(io);
  auto client = boost::beast::test::connect(server);
  StuckStream stuck{std::move(server)};
  const auto aborted = stuck.aborted;
  std::make_shared<Session<StuckStream>>(std::move(stuck), context)->start();
  client.write_some(asio::buffer(kHealthyRequest.data(), kHealthyRequest.size()));
  run_for(milliseconds(30));
  EXPECT_TRUE(open());
  run_for(milliseconds(60));
  EXPECT_FALSE(open());
  EXPECT_TRUE(*aborted);
}

}  // namespace
}  // namespace rdma_exporter::http
