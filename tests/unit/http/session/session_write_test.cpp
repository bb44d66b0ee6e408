// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/http/session_fixture.h"

// What a response costs: one write, straight from the body.
namespace rdma_exporter::http {
namespace {

/// Notes where the bytes of each write come from.
struct WatchedStream {
  using executor_type = Executor;
  boost::beast::test::stream inner;
  std::shared_ptr<std::vector<std::vector<const void*>>> writes;

  Executor get_executor() { return inner.get_executor(); }
  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler handler) {
    inner.async_read_some(buffers, std::move(handler));
  }
  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler handler) {
    writes->emplace_back();
    for (auto it = asio::buffer_sequence_begin(buffers); it != asio::buffer_sequence_end(buffers); ++it) {
      writes->back().push_back(asio::const_buffer(*it).data());
    }
    inner.async_write_some(buffers, std::move(handler));
  }
};
void end_sending(WatchedStream& stream) { stream.inner.close(); }
void close_stream(WatchedStream& stream) { stream.inner.close(); }
void abort_stream(WatchedStream& stream) { stream.inner.close(); }

TEST(HttpSessionWrite, WritesHeadAndBodyInOneCallAndTheBodyFromWhereItIs) {
  SessionFixture fixture;
  fixture.source.page = web::make_page(std::string(3'000'000, 'm'));
  boost::beast::test::stream server(fixture.io);
  auto client = boost::beast::test::connect(server);
  auto writes = std::make_shared<std::vector<std::vector<const void*>>>();
  std::make_shared<Session<WatchedStream>>(WatchedStream{std::move(server), writes}, fixture.context)
      ->start();
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    client.write_some(asio::buffer(request));
    fixture.run();
  }
  ASSERT_EQ(writes->size(), 2U);
  for (const auto& write : *writes) {
    ASSERT_EQ(write.size(), 2U);
    EXPECT_EQ(write[1], fixture.source.page->body.data());
  }
  EXPECT_EQ((*writes)[0][0], (*writes)[1][0]) << "the buffer of the head is used again";
  EXPECT_EQ(fixture.source.page.use_count(), 1) << "the body is let go when it is written";
}

TEST(HttpSessionWrite, GoesOnWhereAWriteEndedEarly) {
  SessionFixture fixture;
  fixture.source.page = web::make_page("abcdefghijklmnopqrstuvwxyz");
  boost::beast::test::stream server(fixture.io);
  server.write_size(7);
  auto client = boost::beast::test::connect(server);
  std::make_shared<Session<boost::beast::test::stream>>(std::move(server), fixture.context)->start();
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n";
  client.write_some(asio::buffer(request));
  fixture.run();
  EXPECT_EQ(std::string(client.str()),
            "HTTP/1.1 200 OK\r\n"
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: 26\r\n"
            "Vary: Accept, Accept-Encoding\r\n"
            "\r\n"
            "abcdefghijklmnopqrstuvwxyz");
}

}  // namespace
}  // namespace rdma_exporter::http
