// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "asio/beast.h"
//
#include <boost/beast/_experimental/test/stream.hpp>

#include "http/session/session.h"
#include "tests/unit/web/fake_source.h"
#include "web/routes.h"

// What http/stream.h asks of a stream, for the fake one.
namespace boost::beast::test {
inline void end_sending(stream& fake) { fake.close(); }
inline void close_stream(stream& fake) { fake.close(); }
inline void abort_stream(stream& fake) { fake.close(); }
inline std::string peer_address(const stream&) { return "192.0.2.1"; }
}  // namespace boost::beast::test

namespace rdma_exporter::http {

/// One session on a fake stream: bytes in, bytes out, with the clock of the Date header standing still.
class SessionFixture {
 public:
  using Stream = boost::beast::test::stream;

  void start() {
    make()->start();
    run();
  }
  void refuse() {
    make()->refuse();
    run();
  }

  /// Sends `bytes` and gives what came back by the time nothing moves any more.
  std::string exchange(std::string_view bytes) {
    send(bytes);
    return received();
  }
  void send(std::string_view bytes) {
    put(bytes);
    run();
  }
  /// On its way, and not read yet.
  void put(std::string_view bytes) {
    boost::system::error_code error;
    client_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  }
  std::string received() {
    run();
    const auto view = client_.str();
    std::string bytes(view.data(), view.size());
    client_.clear();
    return bytes;
  }
  void run() {
    io.restart();
    io.poll();
  }
  void run_for(std::chrono::milliseconds time) {
    io.restart();
    io.run_for(time);
  }
  /// Runs until `done()`, for ten seconds at most; returns whether it was. A busy machine makes that late.
  template <typename Done>
  bool run_until(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (; !done(); run_for(std::chrono::milliseconds(5)))
      if (std::chrono::steady_clock::now() > end) return false;
    return true;
  }
  /// The client sends no more; it can still receive.
  void close_client() {
    client_.close();
    run();
  }
  /// The client's machine is switched off.
  void lose_client() {
    client_ = Stream(io);
    run();
  }
  bool open() const { return context->serving.size() + context->refused.size() > 0; }
  bool session_exists() const { return !session_.expired(); }
  void stop() {
    context->stopping = true;
    context->serving.stop_all();
    run();
  }

  web::FakeSource source;
  web::Routes routes{source, {}};
  HttpCounters counters;
  std::shared_ptr<SessionContext> context = std::make_shared<SessionContext>(
      SessionContext{routes, counters, {}, DateHeader([] { return std::time_t{784111777}; })});
  asio::io_context io;

 private:
  std::shared_ptr<Session<Stream>> make() {
    Stream server(io);
    client_ = boost::beast::test::connect(server);
    auto session = std::make_shared<Session<Stream>>(std::move(server), context);
    session_ = session;
    return session;
  }

  Stream client_{io};
  std::weak_ptr<Session<Stream>> session_;
};

constexpr std::string_view kDate = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

/// A whole plain text response; `extra` are whole header lines.
inline std::string plain(std::string_view status_line, std::string_view body, std::string_view extra = {}) {
  std::string text = "HTTP/1.1 " + std::string(status_line) + "\r\n" + std::string(kDate);
  text +=
      "Content-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return text.append(extra).append("\r\n").append(body);
}

/// For a scrape that finds no room for its page.
inline const std::string kNoMemory =
    plain("503 Service Unavailable", "not enough memory for the answer, try again\n", "Retry-After: 1\r\n");

}  // namespace rdma_exporter::http
