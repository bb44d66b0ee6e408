// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Where the server listens, and what it answers.
#include "http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "http/listen/listen_address.h"
#include "http/stream.h"
#include "tests/unit/http/server_fixture.h"
#include "tests/unit/support/certificates.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::http {
namespace {

TEST_F(HttpServer, ServesIpv4AndIpv6OnAPortAlone) {
  serve(":0");
  Client v4;
  ASSERT_TRUE(v4.connect(port));
  ASSERT_TRUE(v4.send(kRequest));
  EXPECT_EQ(v4.receive(kResponseSize), kResponse);
  Client v6(AF_INET6);
  if (!v6.connect(port)) GTEST_SKIP() << "this host has no IPv6 loopback address";
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
