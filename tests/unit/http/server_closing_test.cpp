// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// How connections end: after a refusal, a timeout, and when the server stops.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tests/unit/http/server_fixture.h"

namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_F(HttpServer, LetsARefusedClientReadItsAnswerAlsoWhenItIsStillSending) {
  options.max_header_bytes = 1024;
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nX-Long: " + std::string(30000, 'x')));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 32\r\nConnection: close\r\n\r\nRequest Header Fields Too Large\n");
  client.close();
  EXPECT_TRUE(soon([this] { return open_connections() == 0; }));
}

TEST_F(HttpServer, LetsAClientWhoseBodyIsRefusedSendItAndReadTheAnswer) {
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(client.send("POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 30000\r\n\r\n"));
  std::this_thread::sleep_for(milliseconds(50));
  ASSERT_TRUE(client.send(std::string(15000, 'b')));
  std::this_thread::sleep_for(milliseconds(50));
  ASSERT_TRUE(client.send(std::string(15000, 'b')));
  EXPECT_EQ(client.receive(),
            "HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 18\r\nConnection: close\r\n\r\nContent Too Large\n");
}

TEST_F(HttpServer, StopsListeningToARefusedClientThatNeverStopsSending) {
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(client.send("nonsense\r\n\r\n"));
  std::size_t sent = 0;
  while (client.send(std::string(8192, 'x'))) {
    sent += 8192;
    ASSERT_LT(sent, 32'000'000U) << "what it reads for politeness is bounded in bytes, not only in time";
  }
  EXPECT_TRUE(soon([this] { return open_connections() == 0; }));
}

TEST_F(HttpServer, ClosesAnIdleConnection) {
  options.idle_timeout = milliseconds(100);
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port) && client.send(kRequest));
  EXPECT_EQ(client.receive(kResponseSize), kResponse);
  EXPECT_FALSE(client.ended(milliseconds(30)));
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(soon([this] { return open_connections() == 0; }));
}

TEST_F(HttpServer, GivesUpOnAReaderThatDoesNotRead) {
  source.page = web::make_page(std::string(50'000'000, 'm'));
  options.write_timeout = milliseconds(150);
  serve();
  Client client;
  client.set_receive_buffer(4096);
  ASSERT_TRUE(client.connect(port) && client.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return open_connections() == 1; }));
  EXPECT_TRUE(soon([this] { return open_connections() == 0; }));
  const std::string received = client.receive();
  EXPECT_TRUE(received.ends_with("<reset>"))
      << "the kernel must not hold the rest for a reader that does not read";
  EXPECT_EQ(source.page.use_count(), 1);
}

TEST_F(HttpServer, EndsEveryConnectionWhenItIsDestroyed) {
  source.hold = true;
  asio::io_context io;
  auto server = std::make_unique<Server>(io, ServerOptions{{"127.0.0.1:0"}}, routes, counters);
  ASSERT_TRUE(server->listen().has_value());
  const std::string bound = server->bound_addresses().at(0);
  Client client;
  ASSERT_TRUE(client.connect(static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)))));
  ASSERT_TRUE(client.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  while (source.held.empty()) ASSERT_GT(io.run_one_for(milliseconds(5000)), 0U);
  server.reset();
  EXPECT_TRUE(client.ended(milliseconds(0))) << "also the one whose answer is still to come";
  source.held.at(0)(source.page);
  io.run();
}

TEST_F(HttpServer, StopEndsIdleConnectionsAndFinishesTheResponseInFlight) {
  source.hold = true;
  serve();
  Client idle;
  ASSERT_TRUE(idle.connect(port) && idle.send(kRequest));
  EXPECT_EQ(idle.receive(kResponseSize), kResponse);
  Client busy;
  ASSERT_TRUE(busy.connect(port) && busy.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  ASSERT_TRUE(soon([this] { return call([this] { return source.held.size(); }) == 1; }));

  stop();
  EXPECT_TRUE(idle.ended());
  Client late;
  EXPECT_FALSE(late.connect(port)) << "nobody listens any more";
  EXPECT_EQ(open_connections(), 1U);
  call([this] { source.held.at(0)(source.page); });
  EXPECT_EQ(
      busy.receive(),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 15\r\n"
      "Vary: Accept, Accept-Encoding\r\n"
      "Connection: close\r\n\r\nrdma_devices 0\n");
  EXPECT_EQ(open_connections(), 0U);
}

// A read or write timeout would end it, too, but later than soon() waits.
TEST_F(HttpServer, ClosesARefusedConnectionThatItsClientKeepsOpen) {
  options.read_timeout = options.write_timeout = std::chrono::minutes(1);
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port) && client.send("nonsense\r\n\r\n"));
  EXPECT_EQ(client.receive(12), "HTTP/1.1 400");
  EXPECT_TRUE(soon([this] { return open_connections() == 0; }));
}

TEST_F(HttpServer, LeavesTheEventLoopNothingToDoAfterStop) {
  asio::io_context io;
  Server server(io, ServerOptions{{"127.0.0.1:0"}}, routes, counters);
  ASSERT_TRUE(server.listen().has_value());
  const std::string bound = server.bound_addresses().at(0);
  Client client;
  ASSERT_TRUE(client.connect(static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)))));
  io.run_for(milliseconds(20));
  EXPECT_EQ(server.open_connections(), 1U);
  server.stop();
  const auto begin = steady_clock::now();
  io.restart();
  io.run();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500));
}

// As when a thread that is stuck in the kernel keeps the process: nothing of it is destroyed.
TEST_F(HttpServer, LeavesItsPortAndItsClientsWhenItIsClosed) {
  source.hold = true;
  asio::io_context io;
  Server first(io, ServerOptions{{"127.0.0.1:0"}}, routes, counters);
  ASSERT_TRUE(first.listen().has_value());
  const std::string bound = first.bound_addresses().at(0);
  Client client;
  ASSERT_TRUE(client.connect(static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)))));
  ASSERT_TRUE(client.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  while (source.held.empty()) ASSERT_GT(io.run_one_for(milliseconds(5000)), 0U);

  first.stop();
  Server second(io, ServerOptions{{bound}}, routes, counters);
  EXPECT_TRUE(second.listen().has_value()) << "beside a connection that is still open";
  EXPECT_FALSE(client.ended(milliseconds(0))) << "its answer may still come";
  first.close();
  EXPECT_TRUE(client.ended(milliseconds(0)));
}

}  // namespace
}  // namespace rdma_exporter::http
