// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// What keeps a lease, what ends it, and what survives a broken control connection.
#include "probe/channel/channel.h"
#include "tests/unit/probe/side_channel_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeSideChannel, LosesALeaseWhosePeerHangs) {
  TcpAcceptor listening(io, {asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket accepted(io);
  std::shared_ptr<Channel> peer;
  listening.async_accept(accepted, [&](const boost::system::error_code&) {
    peer = Channel::make(std::move(accepted), nullptr);
    peer->start(
        TlsRole::server, [] {},
        [&](const Frame& frame) {
          if (std::holds_alternative<Hello>(frame)) peer->send(Welcome{kProtocolVersion, "hangs"});
          if (!std::holds_alternative<Connect>(frame)) return;
          Accept accept;
          accept.device = "rxe0";
          accept.address = some_address();
          accept.granted = kGrantWrite | kGrantEcho;
          peer->send(accept);
        },
        [](const Failure&) {});
  });
  DialerOptions options;
  options.address = "127.0.0.1";
  options.port = listening.local_endpoint().port();
  options.ping_every = 400ms;
  options.message_time = 200ms;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(dialed->connection.pair);
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::tcp, kDeadline}));
  peer->close();
}

// A prober asks again every half a minute: one that is heard and resumes nothing within a minute has no use
// for what is held for it. Without that a host that restarts would be counted twice for a quarter of an hour.
TEST_F(ProbeSideChannel, LetsGoOfALeaseWhoseHostIsBackAndDoesNotResumeIt) {
  ASSERT_TRUE(listen({.lease_time = 100ms, .resume_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  options.least_pause = 1h;
  dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return responder->held() == 1; }));
  DialerOptions other = to_responder();
  other.host = "another";
  other.ping_every = 20ms;  // these two live
  DialerOptions again = to_responder();
  again.ping_every = 20ms;
  ASSERT_TRUE(dial_and_wait(other)->connection.pair);
  const auto until = Clock::now() + 400ms;
  run_until([&] { return Clock::now() > until; });
  EXPECT_EQ(responder->held(), 1U) << "that was somebody else";
  ASSERT_TRUE(dial_and_wait(again)->connection.pair);
  EXPECT_EQ(responder->held(), 1U) << "it may still come";
  EXPECT_TRUE(run_until([&] { return responder->held() == 0; }));
}

// A link that was down has swallowed the end of the old connection: this side notices only after the host has
// replaced it.
TEST_F(ProbeSideChannel, LetsGoOfALeaseThatItsHostReplacedBeforeItSeemedBroken) {
  ASSERT_TRUE(listen({.lease_time = 200ms, .resume_time = 100ms}));
  DialerOptions silent = to_responder();
  silent.ping_every = 1h;
  silent.least_pause = 1h;
  DialerOptions again = to_responder();
  again.ping_every = 20ms;
  dial_and_wait(silent);
  ASSERT_TRUE(dial_and_wait(again)->connection.pair);
  ASSERT_TRUE(run_until([&] { return responder->held() == 1; }));
  EXPECT_TRUE(run_until([&] { return responder->held() == 0; }));
  EXPECT_EQ(responder->sessions(), 1U);
}

TEST_F(ProbeSideChannel, ResumesALeaseWhoseConnectionBroke) {
  ASSERT_TRUE(listen({.lease_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;  // so that the responder takes it for broken
  options.least_pause = 10ms;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return dialed->interruptions.size() >= 2; }));
  ASSERT_TRUE(run_until([&] { return responder->held() == 0; }));
  EXPECT_FALSE(dialed->lost);
  EXPECT_EQ(acceptor.wishes.size(), 1U) << "over the queue pairs that there were";
  EXPECT_EQ(acceptor.held, 1);
  EXPECT_EQ(responder->sessions(), 1U);
}

TEST_F(ProbeSideChannel, GivesALeaseUpThatCannotBeResumedInTime) {
  ASSERT_TRUE(listen({.lease_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  options.least_pause = 10ms;
  options.suspended_at_most = 0ms;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::tcp, kSuspended}));
}

TEST_F(ProbeSideChannel, KnowsThatAProcessWhichIsGoneHoldsNothing) {
  ASSERT_TRUE(listen({.lease_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  options.least_pause = 10ms;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return responder->held() == 1; }));
  responder.reset();
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::tcp, "ECONNREFUSED"}));
}

// Who speaks by hand: what it sends, and the answers.
struct ByHand {
  TcpSocket socket;
  explicit ByHand(TcpSocket connected) : socket(std::move(connected)) {}
  void say(const Frame& frame) { asio::write(socket, asio::buffer(encode(frame))); }
  Frame hear(const std::function<bool(const std::function<bool()>&)>& run_until) {
    Bytes bytes(kFrameHeader);
    for (std::size_t have = 0; have < bytes.size();) {
      bool over = false;
      asio::async_read(socket, asio::buffer(bytes.data() + have, bytes.size() - have),
                       [&](const boost::system::error_code&, std::size_t) { over = true; });
      EXPECT_TRUE(run_until([&] { return over; }));
      have = bytes.size();
      bytes.resize(frame_length(bytes).value_or(have));
    }
    auto frame = decode(bytes);
    EXPECT_TRUE(frame);
    return frame.value_or(Frame(Reject{}));
  }
};

TEST_F(ProbeSideChannel, HandsALeaseOverThatItDoesNotKnowToBeBroken) {
  ASSERT_TRUE(listen({}));
  const auto run = [this](const std::function<bool()>& holds) { return run_until(holds); };
  ByHand first(raw());
  first.say(Hello{kProtocolVersion, "c1", "tester"});
  first.hear(run);
  Connect wish;
  wish.address = some_address();
  wish.wanted = kGrantWrite;
  wish.timeout = 14;
  wish.place = Rail{};
  first.say(wish);
  const auto accept = std::get<Accept>(first.hear(run));
  ASSERT_TRUE(accept.token);
  first.say(Ready{});
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  const auto resume = [&](const std::string& host, LeaseToken token) {
    ByHand again(raw());
    again.say(Hello{kProtocolVersion, "c1", host});
    again.hear(run);
    again.say(Resume{token});
    return std::pair(again.hear(run), std::move(again));
  };
  EXPECT_EQ(std::get<Reject>(resume("tester", {1}).first).reason, RejectReason::lease);
  EXPECT_EQ(std::get<Reject>(resume("stranger", *accept.token).first).reason, RejectReason::lease);
  const auto [answer, still] = resume("tester", *accept.token);
  EXPECT_TRUE(std::holds_alternative<Ready>(answer));
  EXPECT_EQ(responder->sessions(), 1U);
  EXPECT_EQ(acceptor.held, 1);
  EXPECT_EQ(read_to_end(first.socket), 0U) << "the old connection is ended";
}

TEST_F(ProbeSideChannel, KeepsALeaseWithPings) {
  ASSERT_TRUE(listen({.lease_time = 500ms}));
  DialerOptions options = to_responder();
  options.ping_every = 50ms;
  const auto dialed = dial_and_wait(options);
  const auto end = Clock::now() + 1s;
  run_until([&] { return Clock::now() > end; });
  EXPECT_FALSE(dialed->lost) << dialed->lost->reason;
  EXPECT_EQ(acceptor.held, 1);
}

TEST_F(ProbeSideChannel, TellsTheProberWhenTheResponderEnds) {
  ASSERT_TRUE(listen({}));
  const auto dialed = dial_and_wait(to_responder());
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  responder->stop();
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::tcp, kPeerClosed}));
}

TEST_F(ProbeSideChannel, EndsTheSessionsOfADeviceThatGoes) {
  ASSERT_TRUE(listen({}));
  const auto dialed = dial_and_wait(to_responder());
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  responder->end_sessions_of("rxe1");
  EXPECT_EQ(responder->sessions(), 1U);
  responder->end_sessions_of("rxe0");
  EXPECT_EQ(acceptor.held, 0) << "its driver waits for it";
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::tcp, kPeerClosed}));
}

}  // namespace
}  // namespace rdma_exporter::probe
