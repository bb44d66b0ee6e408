// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The limits for peers that are slow, numerous or malicious.
#include "tests/unit/probe/side_channel_fixture.h"

namespace rdma_exporter::probe {
namespace {

using ProbeBadPeers = ProbeSideChannel;

TEST_F(ProbeBadPeers, SaysSoWhenItsDevicesAreFull) {
  ASSERT_TRUE(listen({}));
  acceptor.refusal = Reject{RejectReason::limit};
  EXPECT_EQ(dial_and_wait(to_responder())->failure, (Failure{Stage::exchange, "rejected_limit"}));
  EXPECT_EQ(responder->refused().at("rejected_limit"), 1U);
}

TEST_F(ProbeBadPeers, EndsWhatIsNoFrame) {
  ASSERT_TRUE(listen({.message_time = 200ms}));
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4096, '\0'), std::string("RXP\x01\x63")}) {
    TcpSocket socket = raw();
    asio::write(socket, asio::buffer(garbage));
    EXPECT_LE(read_to_end(socket), kMaxFrame);
  }
  EXPECT_TRUE(run_until([&] { return responder->pending() == 0; }));
  EXPECT_EQ(responder->sessions(), 0U);
}

TEST_F(ProbeBadPeers, GivesASlowPeerItsTimeAndNoMore) {
  ASSERT_TRUE(listen({.message_time = 150ms}));
  TcpSocket socket = raw();
  const auto hello = encode(Hello{kProtocolVersion, "c1", "slow"});
  asio::write(socket, asio::buffer(hello, 5));  // and then nothing
  const auto start = Clock::now();
  EXPECT_EQ(read_to_end(socket), 0U);
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_EQ(responder->refused().at("deadline"), 1U);
}

TEST_F(ProbeBadPeers, EndsALeaseThatIsNotKeptAliveNorResumed) {
  ASSERT_TRUE(listen({.lease_time = 150ms, .hold_time = 100ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  options.least_pause = 1h;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return acceptor.held == 0; }));
  EXPECT_EQ(dialed->interruptions.size(), 1U);
  EXPECT_EQ(responder->sessions(), 0U);
}

TEST_F(ProbeBadPeers, HoldsNothingThatOthersNeed) {
  ASSERT_TRUE(listen({.lease_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  options.least_pause = 1h;
  dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return responder->held() == 1; }));
  acceptor.refusal = Reject{RejectReason::limit};
  dial_and_wait(to_responder());
  EXPECT_EQ(acceptor.held, 0) << "the next one has room";
}

TEST_F(ProbeBadPeers, ReplayedBytesOfAnotherHandshakeOpenNothing) {
  const std::string file = secret("psk", "fleet:" + kKey);
  ASSERT_TRUE(listen({.credentials = {.secret_file = file}, .message_time = 1000ms}));
  // A wire tap: takes the dialer's bytes and passes them on both ways.
  TcpAcceptor tap(io, {asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket inner(io);
  TcpSocket outer(io);
  Bytes heard;
  std::array<std::byte, 4096> out{};
  std::array<std::byte, 4096> back{};
  std::function<void()> pass_out = [&] {
    inner.async_read_some(asio::buffer(out), [&](const boost::system::error_code& error, std::size_t size) {
      if (error) return;
      heard.insert(heard.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
      asio::write(outer, asio::buffer(out, size));
      pass_out();
    });
  };
  std::function<void()> pass_back = [&] {
    outer.async_read_some(asio::buffer(back), [&](const boost::system::error_code& error, std::size_t size) {
      if (error) return;
      asio::write(inner, asio::buffer(back, size));
      pass_back();
    });
  };
  tap.async_accept(inner, [&](const boost::system::error_code&) {
    outer.connect(responder->bound().at(0));
    pass_out();
    pass_back();
  });
  DialerOptions options = to_responder();
  options.tls = client_tls({.secret_file = file});
  options.port = tap.local_endpoint().port();
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(dialed->connection.pair);
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  const std::size_t wishes = acceptor.wishes.size();
  TcpSocket socket = raw();
  boost::system::error_code ignored;
  asio::write(socket, asio::buffer(heard), ignored);
  read_to_end(socket);
  EXPECT_EQ(acceptor.wishes.size(), wishes);
  EXPECT_EQ(responder->sessions(), 1U) << "and the session that was heard goes on";
}

TEST_F(ProbeBadPeers, HoldsAgainstTenThousandConnects) {
  ASSERT_TRUE(listen({.max_sessions_per_peer = 1000, .max_pending = 32}));
  std::deque<TcpSocket> flood;
  for (int i = 0; i < 10'000; ++i) {
    flood.emplace_back(io);
    boost::system::error_code error;
    flood.back().connect(responder->bound().at(0), error);
    io.restart();
    io.poll();
    ASSERT_LE(responder->pending(), 32U);
    if (flood.size() > 100) flood.pop_front();
  }
  EXPECT_GT(responder->refused().at("rejected_limit"), 1000U);
  flood.clear();
  ASSERT_TRUE(run_until([&] { return responder->pending() == 0; }));
  expect_lease(dial_and_wait(to_responder()));
}

TEST_F(ProbeBadPeers, LeavesRoomForOthersWhenOneAddressFloods) {
  ASSERT_TRUE(listen({.max_sessions_per_peer = 3, .max_pending = 8}));
  std::deque<TcpSocket> flood;
  for (int i = 0; i < 20; ++i) {
    flood.emplace_back(io);
    flood.back().open(asio::ip::tcp::v4());
    flood.back().bind({asio::ip::make_address("127.0.0.9"), 0});
    flood.back().connect(responder->bound().at(0));
  }
  ASSERT_TRUE(run_until([&] {
    const auto found = responder->refused().find("rejected_limit");
    return found != responder->refused().end() && found->second == 17;
  }));
  EXPECT_EQ(responder->pending(), 3U);
  expect_lease(dial_and_wait(to_responder()));
}

// As the agent sets it: the limit by address is far above the one of all that say nothing.
TEST_F(ProbeBadPeers, TakesRoomFromWhoHoldsMostOfItInSilence) {
  ASSERT_TRUE(listen({.max_sessions_per_peer = 1000, .max_pending = 8}));
  std::deque<TcpSocket> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(io);
    silent.back().open(asio::ip::tcp::v4());
    silent.back().bind({asio::ip::make_address("127.0.0.9"), 0});
    silent.back().connect(responder->bound().at(0));
  }
  ASSERT_TRUE(run_until([&] { return responder->pending() == 8; }));
  expect_lease(dial_and_wait(to_responder()));
  EXPECT_GE(responder->refused().at("rejected_limit"), 13U) << "12 came too late, one made room";
}

TEST_F(ProbeBadPeers, RefusesAbsurdWishesBeforeAnythingIsMade) {
  ASSERT_TRUE(listen({}));
  TcpSocket socket = raw();
  asio::write(socket, asio::buffer(encode(Hello{kProtocolVersion, "c1", "odd"})));
  Connect wish;
  wish.address = some_address();
  wish.address.mtu = 77;
  wish.wanted = kGrantWrite;
  wish.timeout = 14;
  asio::write(socket, asio::buffer(encode(wish)));
  read_to_end(socket);
  EXPECT_TRUE(acceptor.wishes.empty());
  EXPECT_EQ(responder->refused().at("protocol"), 1U);
}

}  // namespace
}  // namespace rdma_exporter::probe
