// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// http_sd with a server whose answers the test chooses.
#include "discovery/source.h"

#include <gtest/gtest.h>

#include <boost/asio/read_until.hpp>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "asio/ssl.h"
#include "tests/unit/support/certificates.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::discovery {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using boost::system::error_code;

// Takes one connection, and holds it until the client or the test is through.
class Server {
 public:
  explicit Server(std::string answer, const Authority::Files* files = nullptr)
      : acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
    thread_ = std::thread([this, answer = std::move(answer), files] {
      error_code error;
      tcp::socket socket(io_);
      acceptor_.accept(socket, error);
      if (error) return;
      if (files == nullptr) return serve(socket, answer);
      asio::ssl::context context(asio::ssl::context::tls_server);
      context.use_certificate_chain_file(files->certificate);
      context.use_private_key_file(files->key, asio::ssl::context::pem);
      asio::ssl::stream<tcp::socket> stream(std::move(socket), context);
      stream.handshake(asio::ssl::stream_base::server, error);
      if (!error) serve(stream, answer);
    });
  }
  ~Server() {
    // Wakes the accept when nobody came.
    error_code ignored;
    tcp::socket(io_).connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }
  std::string request;  ///< after the exchange

 private:
  template <typename Stream>
  void serve(Stream& stream, const std::string& answer) {
    error_code error;
    asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n", error);
    asio::write(stream, asio::buffer(answer), error);
    char end = 0;
    if (answer.empty()) stream.read_some(asio::buffer(&end, 1), error);  // until the client has had enough
  }

  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

std::string answer(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

core::Result<std::string> get(const std::string& url, std::chrono::milliseconds time = 30s,
                              const std::string& authority = "") {
  return fetch(http::parse_url(url).value(), authority, time, 60s);
}

TEST(TargetServer, IsAskedAsPrometheusAsks) {
  std::string request;
  {
    Server server(answer("200 OK", "[]"));
    EXPECT_EQ(get("http://127.0.0.1:" + server.port() + "/sd?role=gpu").value_or("?"), "[]");
    request = server.request;
    EXPECT_NE(server.request.find("GET /sd?role=gpu HTTP/1.1\r\n"), std::string::npos) << server.request;
    EXPECT_NE(server.request.find("Host: 127.0.0.1:" + server.port()), std::string::npos);
    EXPECT_NE(server.request.find("X-Prometheus-Refresh-Interval-Seconds: 60\r\n"), std::string::npos);
  }
}

TEST(TargetServer, IsBelievedOnlyWithStatus200) {
  for (const char* status : {"500 Oops", "404 Not Found", "302 Found", "204 No Content"}) {
    Server server(answer(status, "[]"));
    const auto body = get("http://127.0.0.1:" + server.port());
    ASSERT_FALSE(body) << status;
    EXPECT_NE(core::to_string(body.error()).find(std::string(status).substr(0, 3)), std::string::npos);
  }
}

TEST(TargetServer, MayEndItsAnswerInAnyWay) {
  for (const char* text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[]"}) {
    Server server(text);
    EXPECT_EQ(get("http://127.0.0.1:" + server.port()).value_or("?"), "[]") << text;
  }
}

TEST(TargetServer, IsGivenUpAfterItsTime) {
  Server server("");
  EXPECT_TRUE(core::is_errno(get("http://127.0.0.1:" + server.port(), 200ms).error(), ETIMEDOUT));
}

TEST(TargetServer, CannotSendMoreThanAList) {
  Server server("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n[");
  EXPECT_EQ(get("http://127.0.0.1:" + server.port()).error().kind, core::Errc::too_long);
}

TEST(TargetServer, ThatSaysNoHttpIsAnError) {
  for (const char* text : {"hello\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[]"}) {
    Server server(text);
    EXPECT_FALSE(get("http://127.0.0.1:" + server.port())) << text;
  }
}

TEST(TargetServer, ThatIsNotThereIsAnError) {
  std::string port;
  {
    Server server("");
    port = server.port();
    tcp::iostream("127.0.0.1", port).close();
  }
  EXPECT_TRUE(core::is_errno(get("http://127.0.0.1:" + port).error(), ECONNREFUSED));
}

TEST(TargetServer, OverTlsHasToProveItsName) {
  const test::TempTree tree;
  Authority authority(tree.path("good"));
  const auto files = authority.issue("localhost");
  const auto other = authority.issue("elsewhere");
  Authority unknown(tree.path("unknown"));
  {
    Server server(answer("200 OK", "[]"), &files);
    const auto body = get("https://localhost:" + server.port(), 30s, authority.file());
    EXPECT_EQ(body.value_or("?"), "[]") << core::to_string(body.error());
  }
  {
    Server server(answer("200 OK", "[]"), &other);
    EXPECT_FALSE(get("https://localhost:" + server.port(), 30s, authority.file())) << "another name";
  }
  {
    Server server(answer("200 OK", "[]"), &files);
    EXPECT_FALSE(get("https://localhost:" + server.port(), 30s, unknown.file())) << "another authority";
  }
}

TEST(TargetServer, KeepsTheListWhileItFails) {
  Server server(answer("200 OK", "[{]"));
  HttpSource source(http::parse_url("http://127.0.0.1:" + server.port()).value(), "", 60s);
  const Reading reading = source.read();
  EXPECT_FALSE(reading.targets);
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_EQ(reading.problems[0].kind, core::Errc::parse);
}

TEST(TargetUrl, HasDefaults) {
  const auto url = http::parse_url("https://cmdb.example").value();
  EXPECT_EQ(std::tuple(url.tls, url.host, url.port, url.target, url.host_header()),
            std::tuple(true, "cmdb.example", 443, "/", "cmdb.example"));
  const auto other = http::parse_url("http://[2001:db8::1]:81?a=b#c").value();
  EXPECT_EQ(std::tuple(other.tls, other.host, other.port, other.target, other.host_header()),
            std::tuple(false, "2001:db8::1", 81, "/?a=b", "[2001:db8::1]:81"));
}

TEST(TargetUrl, IsNothingElse) {
  for (const char* bad : {"", "cmdb", "ftp://cmdb", "http://", "http://:80", "http://user:word@cmdb/",
                          "http://cmdb/a b", "http://cmdb/\r\nX: y", "http://cmdb:x/"})
    EXPECT_FALSE(http::parse_url(bad)) << bad;
}

}  // namespace
}  // namespace rdma_exporter::discovery
