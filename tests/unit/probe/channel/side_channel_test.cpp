// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Both sides of the control connection: who is admitted, and what they negotiate.
#include <numeric>

#include "probe/channel/channel.h"
#include "probe/mesh/flow_label.h"
#include "tests/unit/probe/side_channel_fixture.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(ProbeSideChannel, MakesALeaseAndGivesItBackWhenThePeerLetsGo) {
  ASSERT_TRUE(listen({}));
  DialerOptions options = to_responder();
  options.path.traffic_class = 106;
  options.flow = 3;
  const auto dialed = dial_and_wait(options);
  ASSERT_EQ(acceptor.wishes.size(), 1U);
  EXPECT_EQ(acceptor.wishes[0].traffic_class, 106);
  EXPECT_EQ(acceptor.wishes[0].flow_label, flow_label(some_address().gid, *gid_of_address("127.0.0.1"), 3));
  EXPECT_EQ(near_ends->path.flow_label, acceptor.wishes[0].flow_label) << "both ways take the same path";
  EXPECT_EQ(near_ends->request.gid.near_control, *gid_of_address("127.0.0.1"));
  EXPECT_EQ(acceptor.wishes[0].wanted, kGrantEcho | kGrantWrite);
  expect_lease(dialed);
}

TEST_F(ProbeSideChannel, SaysWhatItsStepsTook) {
  ASSERT_TRUE(listen({}));
  near_ends->making = 20ms;
  near_ends->connecting = 40ms;
  const Clock::time_point begin = Clock::now();
  const auto dialed = dial_and_wait(to_responder());
  const std::chrono::nanoseconds whole = Clock::now() - begin;
  const ConnectTimes& times = dialed->connection.times;
  const auto took = [&times](ConnectStep step) { return times[static_cast<std::size_t>(step)]; };
  EXPECT_GT(took(ConnectStep::tcp), 0ns);
  EXPECT_GE(took(ConnectStep::exchange), 20ms) << "the own queue pairs are made in it";
  EXPECT_GE(took(ConnectStep::modify), 40ms);
  EXPECT_LE(std::accumulate(times.begin(), times.end(), 0ns), whole) << "no time is counted twice";
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
    EXPECT_EQ(*refused->failure, (Failure{Stage::tls, "tls"}));
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
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::tls, "tls"}));
  // and a server that the client does not know
  options.tls = client_tls({good.certificate, good.key, others.file(), {}});
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::tls, "tls"}));
  EXPECT_EQ(acceptor.held, 0);
}

TEST_F(ProbeSideChannel, TakesNobodyWithoutACertificateNorAnOlderTls) {
  Authority ours(directory / "ours");
  const auto server = ours.issue("server");
  ASSERT_TRUE(listen({.credentials = {server.certificate, server.key, ours.file(), {}}}));
  const auto stranger = [&] {
    auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    tls->load_verify_file(ours.file());
    return tls;
  };
  DialerOptions options = to_responder();
  options.tls = stranger();  // has everything but a certificate
  EXPECT_TRUE(dial_and_wait(options)->failure);
  const auto own = ours.issue("client");
  options.tls = stranger();
  options.tls->use_certificate_chain_file(own.certificate);
  options.tls->use_private_key_file(own.key, asio::ssl::context::pem);
  ::SSL_CTX_set_max_proto_version(options.tls->native_handle(), TLS1_2_VERSION);
  EXPECT_TRUE(dial_and_wait(options)->failure);
  EXPECT_TRUE(acceptor.wishes.empty()) << "nothing is said to a stranger";
  ::SSL_CTX_set_max_proto_version(options.tls->native_handle(), TLS1_3_VERSION);
  expect_lease(dial_and_wait(options));
}

TEST_F(ProbeSideChannel, SeesThatItsFilesWereRenewed) {
  Authority ours(directory / "ours");
  const auto files = ours.issue("server");
  const Credentials credentials{files.certificate, files.key, ours.file(), {}};
  const std::string before = file_stamp(credentials);
  EXPECT_NE(before, "");
  EXPECT_EQ(file_stamp(credentials), before);
  std::filesystem::rename(ours.issue("next").certificate, files.certificate);
  EXPECT_NE(file_stamp(credentials), before);
  EXPECT_EQ(file_stamp({}), "");
}

// Rotation of keys: the new one second everywhere, then first, then alone, without a restart at any time.
TEST_F(ProbeSideChannel, TakesAnotherKeyWithoutEndingASession) {
  const std::string old_key = "old:" + kKey;
  const std::string new_key = "new:" + std::string(64, 'b');
  const auto with_key = [this](const std::string& file) {
    DialerOptions options = to_responder();
    options.tls = client_tls({.secret_file = file});
    return options;
  };
  const auto put = [this](const std::string& name, const std::string& line) {
    std::filesystem::remove(directory / name);
    return secret(name, line);
  };
  const std::string here = put("here", old_key);
  ASSERT_TRUE(listen({.credentials = {.secret_file = here}}));
  const auto first = dial_and_wait(with_key(put("peer", old_key)));
  ASSERT_TRUE(first->connection.pair);
  EXPECT_FALSE(dial_and_wait(with_key(put("newer", new_key)))->connection.pair);

  put("here", old_key + "\n" + new_key);
  ASSERT_TRUE(responder->renew_secrets());
  EXPECT_TRUE(dial_and_wait(with_key(put("peer", old_key)))->connection.pair);
  EXPECT_TRUE(dial_and_wait(with_key(put("newer", new_key)))->connection.pair);

  put("here", new_key);
  ASSERT_TRUE(responder->renew_secrets());
  EXPECT_FALSE(dial_and_wait(with_key(put("peer", old_key)))->connection.pair);
  EXPECT_TRUE(dial_and_wait(with_key(put("newer", new_key)))->connection.pair);
  EXPECT_FALSE(first->lost) << "it goes on";
  EXPECT_TRUE(run_until([&] { return responder->sessions() == 4; }));

  put("here", "nothing that is a key");
  EXPECT_FALSE(responder->renew_secrets());
  EXPECT_TRUE(dial_and_wait(with_key(put("newer", new_key)))->connection.pair) << "the old ones stay";
}

TEST_F(ProbeSideChannel, KeepsFewFramesForAPeerThatDoesNotRead) {
  TcpAcceptor listening(io, {asio::ip::make_address("127.0.0.1"), 0});
  TcpSocket near(io);
  near.connect(listening.local_endpoint());
  const TcpSocket far = listening.accept();
  const auto channel = Channel::make(std::move(near), nullptr);
  std::optional<Failure> ended;
  channel->start(
      TlsRole::client, [] {}, [](const Frame&) {}, [&](const Failure& failure) { ended = failure; });
  for (std::uint32_t i = 0; i < 16; ++i) channel->send(Ping{i, false});
  EXPECT_FALSE(ended);
  channel->send(Ping{16, false});
  EXPECT_EQ(ended, (Failure{Stage::exchange, kDeadline}));
}

TEST_F(ProbeSideChannel, ListensBeyondLoopbackOnlyWithCredentialsOrWhenToldSo) {
  const asio::ip::tcp::endpoint anywhere(asio::ip::address_v4::any(), 0);
  const auto refused = listen({.listen = {{anywhere}}, .credentials = {}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().context.text().find("insecure: true"), std::string::npos)
      << refused.error().context.text();
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
  ASSERT_TRUE(welcome) << welcome.error().context.text();
  EXPECT_EQ(std::get<Welcome>(*welcome).version, kProtocolVersion);
}

TEST_F(ProbeSideChannel, HandsOverWhereTheConnectionManagerWaits) {
  ASSERT_TRUE(listen({}));
  near_ends->transport = Transport::rdma_cm;
  const auto dialed = dial_and_wait(to_responder());
  ASSERT_EQ(acceptor.wishes.size(), 1U);
  EXPECT_EQ(acceptor.wishes[0].transport, Transport::rdma_cm);
  EXPECT_EQ(near_ends->cm_address, (CmAddress{7471, {1, 2, 3}}));
  expect_lease(dialed);
}

TEST_F(ProbeSideChannel, DoesNotAskAnOlderPeerForWhatItDoesNotKnow) {
  near_ends->transport = Transport::rdma_cm;
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

TEST_F(ProbeSideChannel, NamesWhatKeepsAPeerAway) {
  ASSERT_TRUE(listen({}));
  DialerOptions options = to_responder();
  responder->stop();
  EXPECT_EQ(dial_and_wait(options)->failure, (Failure{Stage::tcp, "ECONNREFUSED"}));
  options.address = "no-such-host.invalid";
  EXPECT_EQ(dial_and_wait(options)->failure->stage, Stage::resolve);
}

TEST_F(ProbeSideChannel, TakesNoSecretThatEverybodyMayReadAndSaysNothingOfIt) {
  const std::string file = secret("psk", "fleet:" + kKey);
  std::filesystem::permissions(file, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  const auto open = make_tls({.secret_file = file}, TlsRole::server);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().context.text().find("chmod"), std::string::npos);
  const auto bad = make_tls({.secret_file = secret("bad", "fleet:" + kKey + "xyz")}, TlsRole::server);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().context.text().find("aaaa"), std::string::npos) << "keys appear nowhere";
}

}  // namespace
}  // namespace rdma_exporter::probe
