// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Who gives way when connections, memory or file descriptors run out.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <thread>

#include "http/session/session.h"
#include "tests/unit/http/server_fixture.h"

namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;

TEST_F(HttpServer, ClosesTheOldestConnectionWithoutARequestForANewOneAtTheLimit) {
  options.max_connections = 2;
  serve();
  Client oldest;
  Client second;
  ASSERT_TRUE(oldest.connect(port) && oldest.send("GET /metr"));
  ASSERT_TRUE(soon([this] { return open_connections() == 1; }));
  ASSERT_TRUE(second.connect(port));
  ASSERT_TRUE(soon([this] { return open_connections() == 2; }));

  Client third;
  ASSERT_TRUE(third.connect(port) && third.send(kRequest));
  EXPECT_EQ(third.receive(kResponseSize), kResponse);
  EXPECT_TRUE(oldest.ended());
  ASSERT_TRUE(second.send(kRequest));
  EXPECT_EQ(second.receive(kResponseSize), kResponse);
  EXPECT_EQ(refused("displaced"), 1U);
  EXPECT_EQ(open_connections(), 2U);
}

TEST_F(HttpServer, PrefersAConnectionThatHasSentARequestToOneThatHasNot) {
  options.max_connections = 2;
  serve();
  Client proven;
  ASSERT_TRUE(proven.connect(port) && proven.send(kRequest));
  EXPECT_EQ(proven.receive(kResponseSize), kResponse);
  for (int i = 0; i < 10; ++i) {
    Client silent;
    ASSERT_TRUE(silent.connect(port));
    ASSERT_TRUE(soon([this] { return open_connections() == 2; }));
    Client another;
    ASSERT_TRUE(another.connect(port) && another.send(kRequest));
    EXPECT_EQ(another.receive(kResponseSize), kResponse);
    another.close();
    ASSERT_TRUE(soon([this] { return open_connections() == 1; }));
  }
  ASSERT_TRUE(proven.send(kRequest));
  EXPECT_EQ(proven.receive(kResponseSize), kResponse);
}

TEST_F(HttpServer, AFloodOfOneAddressMakesRoomForItselfAndForNobodySlower) {
  options.max_connections = 8;
  serve();
  Client slow;
  ASSERT_TRUE(slow.bind("127.0.0.2") && slow.connect(port) && slow.send("GET /-/hea"));
  ASSERT_TRUE(soon([this] { return open_connections() == 1; }));
  std::deque<Client> flood(50);
  for (Client& client : flood) ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(soon([this] { return refused("displaced") == 43; }));
  ASSERT_TRUE(slow.send("lthy HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_EQ(slow.receive(kResponseSize), kResponse);
}

TEST_F(HttpServer, GivesTheRoomOfASlowReaderToAnotherAddress) {
  source.page = web::make_page(std::string(50'000'000, 'm'));
  serve();
  Client hoarder;
  hoarder.set_receive_buffer(4096);
  ASSERT_TRUE(hoarder.connect(port) && hoarder.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return source.page.use_count() > 1; }));
  call([this] {
    source.missing = 1;
    source.page = web::make_page("rdma_devices 0\n");
  });
  Client again;
  ASSERT_TRUE(again.connect(port) && again.send("GET /metrics HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(again.receive().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  Client other;
  ASSERT_TRUE(other.bind("127.0.0.2") && other.connect(port) && other.send("GET /metrics HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(other.receive().ends_with("\r\n\r\nrdma_devices 0\n"));
  EXPECT_TRUE(hoarder.receive().ends_with("<reset>"));
  EXPECT_EQ(open_connections(), 0U);
}

TEST_F(HttpServer, AsksAgainWhereASlowReaderHasTakenTheRoomMeanwhile) {
  const auto large = web::make_page(std::string(50'000'000, 'm'));
  source.hold = true;
  serve();
  Client hoarder;
  hoarder.set_receive_buffer(4096);
  ASSERT_TRUE(hoarder.connect(port) && hoarder.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 1; }));
  Client other;
  ASSERT_TRUE(other.bind("127.0.0.2") && other.connect(port) && other.send("GET /metrics HTTP/1.0\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 2; }));
  call([this, &large] {
    source.held.at(0)(large);
    source.missing = 1;
    source.hold = false;
    source.held.at(1)(nullptr);
  });
  EXPECT_TRUE(hoarder.receive().ends_with("<reset>"));
  EXPECT_TRUE(other.receive().ends_with("\r\n\r\nrdma_devices 0\n"));
  EXPECT_EQ(call([this] { return source.requests.size(); }), 3U);
}

TEST_F(HttpServer, AsksAgainWhereTheNextSlowReaderHasTakenTheRoomToo) {
  const auto large = web::make_page(std::string(50'000'000, 'm'));
  source.hold = true;
  serve();
  std::array<Client, 2> hoarders;
  Client other;
  ASSERT_TRUE(other.bind("127.0.0.2"));
  std::size_t asked = 0;
  const auto scrape = [&](Client& client) {
    ++asked;
    return client.connect(port) && client.send("GET /metrics HTTP/1.0\r\n\r\n") &&
           soon([&] { return call([this] { return source.held.size(); }) == asked; });
  };
  for (Client& hoarder : hoarders) hoarder.set_receive_buffer(4096);
  ASSERT_TRUE(scrape(hoarders[0]) && scrape(hoarders[1]) && scrape(other));
  call([this, &large] {
    source.missing = 1;
    source.held.at(0)(large);
    source.held.at(2)(nullptr);
    source.held.at(1)(large);
    source.hold = false;
    source.held.at(3)(nullptr);
  });
  EXPECT_TRUE(other.receive().ends_with("\r\n\r\nrdma_devices 0\n"));
  for (Client& hoarder : hoarders) EXPECT_TRUE(hoarder.receive().ends_with("<reset>"));
}

TEST_F(HttpServer, AsksOnceForAPageThatTakesLong) {
  const auto large = web::make_page(std::string(50'000'000, 'm'));
  source.hold = true;
  serve();
  Client hoarder;
  hoarder.set_receive_buffer(4096);
  ASSERT_TRUE(hoarder.connect(port) && hoarder.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 1; }));
  Client other;
  ASSERT_TRUE(other.bind("127.0.0.2") && other.connect(port) && other.send("GET /metrics HTTP/1.0\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 2; }));
  std::this_thread::sleep_for(kRepeatFor);
  call([this, &large] {
    source.held.at(0)(large);
    source.missing = 1;
    source.held.at(1)(nullptr);
  });
  EXPECT_TRUE(other.receive().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  EXPECT_EQ(call([this] { return source.requests.size(); }), 2U);
}

TEST_F(HttpServer, RefusesAConnectionWhenEveryOtherHasARequestInWork) {
  options.max_connections = 2;
  source.hold = true;
  serve();
  Client first;
  Client second;
  for (Client* client : {&first, &second})
    ASSERT_TRUE(client->connect(port) && client->send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 2; }));

  Client third;
  ASSERT_TRUE(third.connect(port));
  EXPECT_EQ(
      third.receive(),
      "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 21\r\n"
      "Connection: close\r\n\r\ntoo many connections\n");
  EXPECT_EQ(refused("connection_limit"), 1U);
  EXPECT_EQ(open_connections(), 2U);

  first.close();
  call([this] {
    source.hold = false;
    for (const auto& answer : source.held) answer(source.page);
  });
  Client fourth;
  ASSERT_TRUE(fourth.connect(port) && fourth.send(kRequest));
  EXPECT_EQ(fourth.receive(kResponseSize), kResponse);
}

TEST_F(HttpServer, AnswersSoManyClientsTooManyAndNoMore) {
  constexpr std::size_t kAnswered = 32;
  options.max_connections = 1;
  source.hold = true;
  serve();
  Client busy;
  ASSERT_TRUE(busy.connect(port) && busy.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 1; }));
  std::deque<Client> many(kAnswered + 20);
  for (Client& client : many) ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(soon([&] { return refused("connection_limit") == many.size(); }));
  std::size_t answered = 0;
  for (Client& client : many) answered += client.receive(12) == "HTTP/1.1 503" ? 1U : 0U;
  EXPECT_GE(answered, kAnswered);
  EXPECT_LT(answered, many.size()) << "the others are closed without a word";
}

TEST_F(HttpServer, TakesNewLimitsForNewConnections) {
  source.hold = true;
  serve();
  Client busy;
  ASSERT_TRUE(busy.connect(port) && busy.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 1; }));
  options.max_connections = 1;
  ASSERT_TRUE(reconfigure().has_value());
  Client second;
  ASSERT_TRUE(second.connect(port));
  EXPECT_EQ(second.receive(12), "HTTP/1.1 503");
  options.max_connections = 2;
  ASSERT_TRUE(reconfigure().has_value());
  Client third;
  ASSERT_TRUE(third.connect(port) && third.send(kRequest));
  EXPECT_EQ(third.receive(kResponseSize), kResponse);
}

/// Takes the process's last free file descriptors away, and gives them back at the end.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = dup(0);
    close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_F(HttpServer, WaitsWhenNoFileDescriptorIsLeftAndGoesOnWhenThereIs) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer's own check of virtual calls needs file descriptors (it probes memory by a pipe)";
#endif
  serve();
  Client client;
  {
    NoMoreFiles limit;
    ASSERT_TRUE(client.connect(port) && client.send(kRequest));
    ASSERT_TRUE(soon([this] { return refused("accept_error") >= 2; }));
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_LE(refused("accept_error"), 6U) << "it pauses between two tries";
  }
  EXPECT_EQ(client.receive(kResponseSize), kResponse);
}

}  // namespace
}  // namespace rdma_exporter::http
