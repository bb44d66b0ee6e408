// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Dialer and responder over loopback, with ends that are no queue pairs: who is let in, what ends a lease,
// and what a peer that means harm can reach.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/read.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "probe/dialer.h"
#include "probe/flow_label.h"
#include "probe/responder.h"
#include "tests/unit/certificates.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

PathEnd some_end() {
  PathEnd end;
  end.gid = *gid_of_address("192.0.2.7");
  end.mtu = 3;
  end.one_sided = {17, 5};
  end.echo = {18, 6};
  return end;
}

struct FakeAcceptor : Acceptor {
  int held = 0;
  std::optional<Reject> refusal;
  std::vector<Connect> wishes;

  void accept(const Connect& wish, const std::string& /*control_address*/, Done done) override {
    wishes.push_back(wish);
    if (refusal) return done(tl::unexpected(*refusal));
    ++held;
    Accept accept;
    accept.device = "rxe0";
    accept.end = some_end();
    accept.granted = wish.wanted;
    if (wish.way == Way::rdma_cm) accept.door = CmDoor{7471, {1, 2, 3}};
    done(Offer{accept, std::shared_ptr<void>(this, [this](void*) { --held; })});
  }
};

struct FakeNear : NearEnds {
  int disposed = 0;
  EndRequest request;
  Way way = Way::verbs;
  void make(EndRequest wanted, std::function<void(SetUp<std::shared_ptr<RcEnd>>)> done) override {
    request = std::move(wanted);
    auto end = std::make_shared<RcEnd>();
    end->local = some_end();
    end->way = way;
    done(std::move(end));
  }
  PathSettings path;
  std::optional<CmDoor> door;
  void connect(std::shared_ptr<RcEnd> /*end*/, const Accept& accept, const PathSettings& settings,
               std::function<void(SetUp<void>)> done) override {
    path = settings;
    door = accept.door;
    done({});
  }
  void dispose(std::shared_ptr<RcEnd> /*end*/) override { ++disposed; }
};

class ProbeSideChannel : public testing::Test {
 protected:
  struct Dialed {
    bool over = false;
    Connection connection;
    std::optional<Failure> failure;
    std::chrono::seconds cap{};
    std::optional<Failure> lost;
  };

  void SetUp() override {
    directory = std::filesystem::temp_directory_path() / ("probe." + std::to_string(::getpid()));
    std::filesystem::create_directories(directory);
  }
  void TearDown() override {
    for (const auto& dialed : all_dialed)
      dialed->connection = {};  // which holds who tells `dialed` of its loss
    responder.reset();
    io.restart();
    io.run_for(50ms);
    std::filesystem::remove_all(directory);
  }

  core::Result<void> listen(ResponderOptions options) {
    if (options.listen.empty()) options.listen = {{{asio::ip::make_address("127.0.0.1"), 0}}};
    options.cluster = "c1";
    responder.emplace(io, std::move(options), acceptor);
    return responder->start();
  }

  bool run_until(const std::function<bool()>& holds) {
    const auto end = Clock::now() + 20s;
    while (!holds() && Clock::now() < end) {
      io.restart();
      io.run_one_for(20ms);
    }
    return holds();
  }

  DialerOptions to_responder() {
    DialerOptions options;
    options.address = "127.0.0.1";
    options.port = responder->bound().at(0).port();
    options.cluster = "c1";
    options.host = "tester";
    return options;
  }

  std::shared_ptr<Dialed> dial(DialerOptions options) {
    auto dialed = all_dialed.emplace_back(std::make_shared<Dialed>());
    Dialer dialer(io, std::move(options), near_ends);
    dialer.connect(
        Op::write,
        [dialed](tl::expected<Connection, ConnectError> answer) {
          dialed->over = true;
          if (answer) {
            dialed->connection = std::move(*answer);
          } else {
            dialed->failure = answer.error().failure;
            dialed->cap = answer.error().cap;
          }
        },
        [dialed](const Failure& failure) { dialed->lost = failure; });
    return dialed;
  }

  std::shared_ptr<Dialed> dial_and_wait(DialerOptions options) {
    auto dialed = dial(std::move(options));
    EXPECT_TRUE(run_until([&] { return dialed->over; }));
    return dialed;
  }

  void expect_lease(const std::shared_ptr<Dialed>& dialed) {
    ASSERT_TRUE(dialed->connection.end) << (dialed->failure ? dialed->failure->reason : "");
    EXPECT_TRUE(run_until([&] { return responder->sessions() == 1; }));
    EXPECT_EQ(acceptor.held, 1);
    dialed->connection = {};
    EXPECT_TRUE(run_until([&] { return acceptor.held == 0 && responder->sessions() == 0; }));
  }

  std::string secret(const std::string& name, const std::string& line) {
    const auto path = directory / name;
    std::ofstream(path) << line << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    return path;
  }

  std::shared_ptr<asio::ssl::context> client_tls(const Credentials& credentials) {
    auto tls = make_tls(credentials, TlsRole::client);
    EXPECT_TRUE(tls) << tls.error().context;
    return *tls;
  }

  // A connection of somebody who does not keep to anything.
  TcpSocket raw() {
    TcpSocket socket(io);
    socket.connect(responder->bound().at(0));
    return socket;
  }
  // What it gets until the responder ends it.
  std::size_t read_to_end(TcpSocket& socket) {
    std::array<char, 4096> buffer{};
    std::size_t got = 0;
    bool over = false;
    asio::async_read(socket, asio::buffer(buffer), [&](const boost::system::error_code&, std::size_t size) {
      got = size;
      over = true;
    });
    EXPECT_TRUE(run_until([&] { return over; }));
    return got;
  }

  std::filesystem::path directory;
  asio::io_context io;
  FakeAcceptor acceptor;
  std::shared_ptr<FakeNear> near_ends = std::make_shared<FakeNear>();
  std::optional<Responder> responder;
  std::vector<std::shared_ptr<Dialed>> all_dialed;
};

const std::string kKey = std::string(64, 'a');

TEST_F(ProbeSideChannel, MakesALeaseAndGivesItBackWhenThePeerLetsGo) {
  ASSERT_TRUE(listen({}));
  DialerOptions options = to_responder();
  options.path.traffic_class = 106;
  options.flow = 3;
  const auto dialed = dial_and_wait(options);
  ASSERT_EQ(acceptor.wishes.size(), 1U);
  EXPECT_EQ(acceptor.wishes[0].traffic_class, 106);
  EXPECT_EQ(acceptor.wishes[0].flow_label, flow_label(some_end().gid, *gid_of_address("127.0.0.1"), 3));
  EXPECT_EQ(near_ends->path.flow_label, acceptor.wishes[0].flow_label) << "both ways take the same path";
  EXPECT_EQ(near_ends->request.gid.near_control, *gid_of_address("127.0.0.1"));
  EXPECT_EQ(acceptor.wishes[0].wanted, kGrantEcho | kGrantWrite);
  expect_lease(dialed);
}

TEST_F(ProbeSideChannel, TellsTheProberWhenTheResponderEnds) {
  ASSERT_TRUE(listen({}));
  const auto dialed = dial_and_wait(to_responder());
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  responder->stop();
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(*dialed->lost, (Failure{Stage::control, kPeerClosed}));
}

TEST_F(ProbeSideChannel, NeedsTheSameSecret) {
  const std::string file = secret("psk", "fleet:" + kKey);
  ASSERT_TRUE(listen({.credentials = {.secret_file = file}}));
  DialerOptions options = to_responder();
  options.tls = client_tls({.secret_file = file});
  expect_lease(dial_and_wait(options));
  for (const std::string& wrong : {"fleet:" + std::string(64, 'b'), "other:" + kKey}) {
    options.tls = client_tls({.secret_file = secret("wrong" + wrong.substr(0, 3), wrong)});
    const auto refused = dial_and_wait(options);
    ASSERT_TRUE(refused->failure);
    EXPECT_EQ(*refused->failure, (Failure{Stage::auth, "tls"}));
    EXPECT_EQ(refused->cap, 300s);
  }
  options.tls = nullptr;
  const auto in_clear = dial_and_wait(options);
  EXPECT_TRUE(in_clear->failure);
  EXPECT_EQ(acceptor.held, 0);
  EXPECT_EQ(responder->refused().at("tls"), 3U);
}

TEST_F(ProbeSideChannel, TakesTheNextSecretWhileKeysAreChanged) {
  const std::string both = secret("both", "old:" + kKey + "\nnew:" + std::string(64, 'c'));
  ASSERT_TRUE(listen({.credentials = {.secret_file = both}}));
  DialerOptions options = to_responder();
  options.tls = client_tls({.secret_file = secret("new", "new:" + std::string(64, 'c'))});
  expect_lease(dial_and_wait(options));
}

TEST_F(ProbeSideChannel, NeedsACertificateOfTheSameAuthority) {
  Authority ours(directory / "ours");
  Authority others(directory / "others");
  const auto server = ours.issue("server");
  ASSERT_TRUE(listen({.credentials = {server.certificate, server.key, ours.file(), {}}}));
  DialerOptions options = to_responder();
  const auto good = ours.issue("client");
  options.tls = client_tls({good.certificate, good.key, ours.file(), {}});
  expect_lease(dial_and_wait(options));
  // a stranger's certificate, shown to a server whose authority the client does know
  const auto stranger = others.issue("client");
  options.tls = client_tls({stranger.certificate, stranger.key, ours.file(), {}});
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::auth, "tls"}));
  // and a server that the client does not know
  options.tls = client_tls({good.certificate, good.key, others.file(), {}});
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::auth, "tls"}));
  EXPECT_EQ(acceptor.held, 0);
}

TEST_F(ProbeSideChannel, ListensBeyondLoopbackOnlyWithCredentialsOrWhenToldSo) {
  const asio::ip::tcp::endpoint anywhere(asio::ip::address_v4::any(), 0);
  const auto refused = listen({.listen = {{anywhere}}, .credentials = {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().context.find("insecure: true"), std::string::npos) << refused.error().context;
  EXPECT_TRUE(listen({.listen = {{anywhere}}, .insecure = true}));
}

TEST_F(ProbeSideChannel, SaysWhyAPeerIsRefused) {
  ASSERT_TRUE(listen({}));
  DialerOptions options = to_responder();
  options.cluster = "c2";
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::exchange, "rejected_cluster"}));
  acceptor.refusal = Reject{RejectReason::no_device, 0};
  EXPECT_EQ(dial_and_wait(to_responder())->failure, (Failure{Stage::exchange, "rejected_no_device"}));
  EXPECT_EQ(responder->refused().at("rejected_no_device"), 1U);
  EXPECT_EQ(near_ends->disposed, 1) << "the near end is given back";
}

TEST_F(ProbeSideChannel, ComesBackSoonUnlessAPersonHasToChangeSomething) {
  ASSERT_TRUE(listen({}));
  using enum RejectReason;
  for (const RejectReason reason : {version, cluster, not_granted}) {
    acceptor.refusal = Reject{reason, 0};
    EXPECT_EQ(dial_and_wait(to_responder())->cap, 300s) << rejected_name(reason);
  }
  for (const RejectReason reason : {limit, no_device, no_address, set_up, protocol, shutdown}) {
    acceptor.refusal = Reject{reason, 0};
    EXPECT_EQ(dial_and_wait(to_responder())->cap, 60s) << rejected_name(reason);
  }
}

TEST_F(ProbeSideChannel, RefusesMoreSessionsThanItsLimitAndSaysSo) {
  ASSERT_TRUE(listen({.most_sessions = 1}));
  const auto first = dial_and_wait(to_responder());
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  EXPECT_EQ(dial_and_wait(to_responder())->failure, (Failure{Stage::exchange, "rejected_limit"}));
  EXPECT_EQ(acceptor.held, 1);
}

TEST_F(ProbeSideChannel, EndsWhatIsNoFrame) {
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

TEST_F(ProbeSideChannel, GivesASlowPeerItsTimeAndNoMore) {
  ASSERT_TRUE(listen({.message_time = 150ms}));
  TcpSocket socket = raw();
  const auto hello = encode(Hello{kProtocolVersion, "c1", "slow"});
  asio::write(socket, asio::buffer(hello, 5));  // and then nothing
  const auto start = Clock::now();
  EXPECT_EQ(read_to_end(socket), 0U);
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_EQ(responder->refused().at("deadline"), 1U);
}

TEST_F(ProbeSideChannel, EndsALeaseThatIsNotKeptAlive) {
  ASSERT_TRUE(listen({.lease_time = 150ms}));
  DialerOptions options = to_responder();
  options.ping_every = 1h;
  const auto dialed = dial_and_wait(options);
  ASSERT_TRUE(run_until([&] { return dialed->lost.has_value(); }));
  EXPECT_EQ(acceptor.held, 0);
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

TEST_F(ProbeSideChannel, ReplayedBytesOfAnotherHandshakeOpenNothing) {
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
  ASSERT_TRUE(dialed->connection.end);
  ASSERT_TRUE(run_until([&] { return responder->sessions() == 1; }));
  const std::size_t wishes = acceptor.wishes.size();
  TcpSocket socket = raw();
  boost::system::error_code ignored;
  asio::write(socket, asio::buffer(heard), ignored);
  read_to_end(socket);
  EXPECT_EQ(acceptor.wishes.size(), wishes);
  EXPECT_EQ(responder->sessions(), 1U) << "and the session that was heard goes on";
}

TEST_F(ProbeSideChannel, HoldsAgainstTenThousandConnects) {
  ASSERT_TRUE(listen({.most_sessions_per_peer = 1000, .most_pending = 32}));
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

TEST_F(ProbeSideChannel, LeavesRoomForOthersWhenOneAddressFloods) {
  ASSERT_TRUE(listen({.most_sessions_per_peer = 3, .most_pending = 8}));
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

TEST_F(ProbeSideChannel, AgreesOnTheVersionOfTheOlderPeer) {
  ASSERT_TRUE(listen({}));
  TcpSocket socket = raw();
  asio::write(socket, asio::buffer(encode(Hello{200, "c1", "newer"})));
  Bytes answer(kFrameHeader + 2);
  bool over = false;
  asio::async_read(socket, asio::buffer(answer),
                   [&](const boost::system::error_code&, std::size_t) { over = true; });
  ASSERT_TRUE(run_until([&] { return over; }));
  const auto welcome = decode(answer);
  ASSERT_TRUE(welcome) << welcome.error().context;
  EXPECT_EQ(std::get<Welcome>(*welcome).version, kProtocolVersion);
}

TEST_F(ProbeSideChannel, HandsOverWhereTheConnectionManagerWaits) {
  ASSERT_TRUE(listen({}));
  near_ends->way = Way::rdma_cm;
  const auto dialed = dial_and_wait(to_responder());
  ASSERT_EQ(acceptor.wishes.size(), 1U);
  EXPECT_EQ(acceptor.wishes[0].way, Way::rdma_cm);
  EXPECT_EQ(near_ends->door, (CmDoor{7471, {1, 2, 3}}));
  expect_lease(dialed);
}

TEST_F(ProbeSideChannel, DoesNotAskAnOlderPeerForWhatItDoesNotKnow) {
  near_ends->way = Way::rdma_cm;
  TcpAcceptor older(io, {asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket socket(io);
  const Bytes welcome = encode(Welcome{1, "older"});
  older.async_accept(socket,
                     [&](const boost::system::error_code&) { asio::write(socket, asio::buffer(welcome)); });
  DialerOptions options;
  options.address = "127.0.0.1";
  options.port = older.local_endpoint().port();
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::exchange, "rejected_version"}));
  EXPECT_EQ(near_ends->disposed, 1);
}

TEST_F(ProbeSideChannel, RefusesAbsurdWishesBeforeAnythingIsMade) {
  ASSERT_TRUE(listen({}));
  TcpSocket socket = raw();
  asio::write(socket, asio::buffer(encode(Hello{kProtocolVersion, "c1", "odd"})));
  Connect wish;
  wish.end = some_end();
  wish.end.mtu = 77;
  wish.wanted = kGrantWrite;
  wish.timeout = 14;
  asio::write(socket, asio::buffer(encode(wish)));
  read_to_end(socket);
  EXPECT_TRUE(acceptor.wishes.empty());
  EXPECT_EQ(responder->refused().at("protocol"), 1U);
}

TEST_F(ProbeSideChannel, NamesWhatKeepsAPeerAway) {
  ASSERT_TRUE(listen({}));
  DialerOptions options = to_responder();
  responder->stop();
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::control, "ECONNREFUSED"}));
  options.address = "no-such-host.invalid";
  EXPECT_EQ(dial_and_wait(options)->failure->stage, Stage::resolve);
}

TEST_F(ProbeSideChannel, TakesNoSecretThatEverybodyMayReadAndSaysNothingOfIt) {
  const std::string file = secret("psk", "fleet:" + kKey);
  std::filesystem::permissions(file, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  const auto open = make_tls({.secret_file = file}, TlsRole::server);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().context.find("chmod"), std::string::npos);
  const auto bad = make_tls({.secret_file = secret("bad", "fleet:" + kKey + "xyz")}, TlsRole::server);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().context.find("aaaa"), std::string::npos) << "keys appear nowhere";
}

}  // namespace
}  // namespace rdma_exporter::probe
