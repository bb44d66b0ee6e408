// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <deque>
#include <future>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "http/listen/listen_address.h"
#include "http/server.h"
#include "tests/unit/http/session_fixture.h"
#include "tests/unit/support/certificates.h"
#include "tests/unit/support/temp_tree.h"
#include "web/policy/security.h"
#include "web/routes.h"

// The server on real sockets of the loopback interface.
namespace rdma_exporter::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A server with its event loop on a thread of its own; everything of the server is called there.
class HttpServer : public testing::Test {
 protected:
  ~HttpServer() override {
    if (thread_.joinable()) {
      call([this] {
        server_.reset();
        security_.reset();
      });
      io_.stop();
      thread_.join();
    }
  }

  void serve(std::string address = "127.0.0.1:0") {
    options.listen_addresses = {std::move(address)};
    security_ = std::make_unique<web::Security>(io_, web_config_file, options.max_connections, counters);
    ASSERT_TRUE(security_->load().has_value());
    server_ = std::make_unique<Server>(io_, options, routes, counters, security_->access());
    const auto listening = server_->listen();
    ASSERT_TRUE(listening.has_value()) << core::to_string(listening.error());
    const std::string bound = server_->bound_addresses().at(0);
    port = static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)));
    thread_ = std::thread([this] {
      auto work = asio::make_work_guard(io_);
      io_.run();
    });
  }

  /// Runs `function` on the thread of the server and waits for it.
  template <typename Function>
  std::invoke_result_t<Function> call(Function function) {
    auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Function>()>>(std::move(function));
    auto result = task->get_future();
    asio::post(io_, [task] { (*task)(); });
    return result.get();
  }
  unsigned open_connections() {
    return call([this] { return server_->open_connections(); });
  }
  void stop() {
    call([this] { server_->stop(); });
  }
  core::Result<void> reconfigure() {
    return call([this] { return server_->reconfigure(options); });
  }
  std::vector<std::string> bound() {
    return call([this] { return server_->bound_addresses(); });
  }
  std::uint64_t refused(std::string_view wanted) {
    std::uint64_t result = 0;
    counters.for_each_refusal(
        [&](std::string_view reason, std::uint64_t n) { result += reason == wanted ? n : 0; });
    return result;
  }
  /// True when `condition` becomes true within a generous time.
  template <typename Condition>
  static bool soon(Condition condition) {
    const auto end = steady_clock::now() + milliseconds(5000);
    while (!condition()) {
      if (steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(2));
    }
    return true;
  }

  web::FakeSource source;
  web::Routes routes{source, {}};
  HttpCounters counters;
  ServerOptions options;
  std::string web_config_file;
  std::uint16_t port = 0;

 private:
  asio::io_context io_;
  std::unique_ptr<web::Security> security_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

/// A blocking client.
class Client {
 public:
  explicit Client(int family = AF_INET) : family_(family), fd_(socket(family, SOCK_STREAM, 0)) {}
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void set_receive_buffer(int bytes) { setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); }
  /// The address that it comes from.
  bool bind(const char* address) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    return inet_pton(AF_INET, address, &from.sin_addr) == 1 &&
           ::bind(fd_, reinterpret_cast<sockaddr*>(&from), sizeof from) == 0;
  }
  bool connect(std::uint16_t port) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    if (family_ == AF_INET) return ::connect(fd_, reinterpret_cast<sockaddr*>(&v4), sizeof v4) == 0;
    return ::connect(fd_, reinterpret_cast<sockaddr*>(&v6), sizeof v6) == 0;
  }
  bool send(std::string_view bytes) {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// Reads until `size` bytes or the end; the Date is taken out. "<reset>" and "<silence>" stand for
  /// themselves.
  std::string receive(std::size_t size = SIZE_MAX) {
    std::string bytes;
    while (bytes.size() < size) {
      pollfd waiting{fd_, POLLIN, 0};
      if (poll(&waiting, 1, 5000) == 0) return without_date(bytes) + "<silence>";
      char block[65536];
      const ssize_t n = ::recv(fd_, block, std::min(sizeof block, size - bytes.size()), 0);
      if (n < 0) return without_date(bytes) + "<reset>";
      if (n == 0) break;
      bytes.append(block, static_cast<std::size_t>(n));
    }
    return without_date(bytes);
  }
  /// True when the server has ended the connection and nothing is left to read.
  bool ended(milliseconds patience = milliseconds(5000)) {
    pollfd waiting{fd_, POLLIN, 0};
    char byte = 0;
    return poll(&waiting, 1, static_cast<int>(patience.count())) == 1 && ::recv(fd_, &byte, 1, 0) <= 0;
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  static std::string without_date(std::string text) {
    for (auto at = text.find("Date: "); at != std::string::npos; at = text.find("Date: ", at)) {
      text.erase(at, text.find("\r\n", at) + 2 - at);
    }
    return text;
  }
  int family_;
  int fd_;
};

constexpr std::string_view kRequest = "GET /-/healthy HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kResponse =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 8\r\n\r\nhealthy\n";
constexpr std::size_t kResponseSize = kResponse.size() + 37;  // with its Date

TEST_F(HttpServer, ServesIpv4AndIpv6OnAPortAlone) {
  serve(":0");
  Client v4;
  ASSERT_TRUE(v4.connect(port));
  ASSERT_TRUE(v4.send(kRequest));
  EXPECT_EQ(v4.receive(kResponseSize), kResponse);
  Client v6(AF_INET6);
  if (!v6.connect(port)) GTEST_SKIP() << "SKIPPED: this host has no IPv6 loopback address";
  ASSERT_TRUE(v6.send(kRequest));
  EXPECT_EQ(v6.receive(kResponseSize), kResponse);
}

TEST_F(HttpServer, ServesEveryAddressItIsTold) {
  options.listen_addresses = {"127.0.0.1:0", "127.0.0.2:0"};
  asio::io_context io;
  Server server(io, options, routes, counters);
  ASSERT_TRUE(server.listen().has_value());
  const auto bound = server.bound_addresses();
  ASSERT_EQ(bound.size(), 2U);
  EXPECT_TRUE(bound[0].starts_with("127.0.0.1:")) << bound[0];
  EXPECT_TRUE(bound[1].starts_with("127.0.0.2:")) << bound[1];
  EXPECT_FALSE(bound[0].ends_with(":0")) << "the real port, not the one asked for";
}

TEST_F(HttpServer, SaysThatAPortIsInUseAndNamesTheFlag) {
  serve();
  asio::io_context io;
  options.listen_addresses = {"127.0.0.1:" + std::to_string(port)};
  Server second(io, options, routes, counters);
  const auto listening = second.listen();
  ASSERT_FALSE(listening.has_value());
  EXPECT_EQ(core::to_string(listening.error()),
            "cannot listen on \"127.0.0.1:" + std::to_string(port) +
                "\": address already in use (another program has this port; "
                "choose another address with --web.listen-address)");
  EXPECT_EQ(listening.error().os_errno, EADDRINUSE);
}

TEST_F(HttpServer, SendsALargeBodyWhole) {
  source.page = web::make_page(std::string(20'000'000, 'm'));
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port));
  ASSERT_TRUE(client.send("GET /metrics HTTP/1.0\r\n\r\n"));
  const std::string received = client.receive();
  EXPECT_EQ(received.substr(received.find("\r\n\r\n") + 4), source.page->body);
}

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

TEST_F(HttpServer, IsNotHeldUpByOneSlowConnection) {
  source.page = web::make_page(std::string(50'000'000, 'm'));
  serve();
  Client stuck;
  stuck.set_receive_buffer(4096);
  ASSERT_TRUE(stuck.connect(port) && stuck.send("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n"));
  Client half;
  ASSERT_TRUE(half.connect(port) && half.send("GET /metr"));
  Client client;
  ASSERT_TRUE(client.connect(port) && client.send(kRequest));
  EXPECT_EQ(client.receive(kResponseSize), kResponse);
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

TEST_F(HttpServer, ListensWhereANewConfigurationSaysAndNoLongerElsewhere) {
  serve();
  const std::string old = bound().at(0);
  const std::uint16_t old_port = port;
  Client served;
  ASSERT_TRUE(served.connect(port) && served.send(kRequest));
  EXPECT_EQ(served.receive(kResponseSize), kResponse);

  options.listen_addresses = {"127.0.0.1:0", "127.0.0.2:0"};
  ASSERT_TRUE(reconfigure().has_value());
  ASSERT_EQ(bound().size(), 2U);
  EXPECT_EQ(bound()[0], old) << "an address that stays is not closed for a moment";
  ASSERT_TRUE(served.send(kRequest));
  EXPECT_EQ(served.receive(kResponseSize), kResponse);

  options.listen_addresses = {"127.0.0.2:0"};
  ASSERT_TRUE(reconfigure().has_value());
  EXPECT_FALSE(Client().connect(old_port));
  EXPECT_TRUE(served.send(kRequest)) << "who is connected stays";
  EXPECT_EQ(served.receive(kResponseSize), kResponse);

  options.listen_addresses = {"127.0.0.1:" + std::to_string(old_port), "203.0.113.1:9"};
  EXPECT_FALSE(reconfigure().has_value());
  EXPECT_EQ(bound().size(), 1U) << "all or nothing";
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

TEST_F(HttpServer, TellsAClientOfPlainHttpThatItSpeaksHttps) {
  const test::TempTree tree;
  Authority authority(tree.root());
  const auto own = authority.issue("server");
  tree.write("web.yml",
             "tls_server_config:\n  cert_file: " + own.certificate + "\n  key_file: " + own.key + "\n");
  web_config_file = tree.root() + "/web.yml";
  serve();
  Client client;
  ASSERT_TRUE(client.connect(port) && client.send(kRequest));
  const std::string answer = client.receive();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
  EXPECT_NE(answer.find("speaks HTTPS"), std::string::npos) << answer;
  EXPECT_TRUE(soon([this] { return refused("tls_handshake") == 1; }));
}

TEST_F(HttpServer, KnowsAnIpv4ClientByItsAddressOnASocketForBothFamilies) {
  asio::io_context io;
  auto acceptor = open_tcp_listener(io, ":0", {{asio::ip::tcp::v6(), 0}, {asio::ip::tcp::v4(), 0}});
  ASSERT_TRUE(acceptor);
  const std::string bound = to_string(acceptor->local_endpoint());
  Client client;
  ASSERT_TRUE(client.connect(static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)))));
  EXPECT_EQ(peer_address(acceptor->accept()), "127.0.0.1");
}

}  // namespace
}  // namespace rdma_exporter::http
