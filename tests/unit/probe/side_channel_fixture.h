// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

// Dialer and responder over loopback, with ends that are no queue pairs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/read.hpp>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "probe/channel/dialer.h"
#include "probe/channel/responder.h"
#include "tests/unit/support/certificates.h"

namespace rdma_exporter::probe {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

inline QpPairAddress some_address() {
  QpPairAddress address;
  address.gid = *gid_of_address("192.0.2.7");
  address.mtu = 3;
  address.one_sided = {17, 5};
  address.echo = {18, 6};
  return address;
}

struct FakeAcceptor : Acceptor {
  int held = 0;
  std::optional<Reject> refusal;
  std::vector<Connect> wishes;

  void accept(const Connect& wish, const ControlAddresses& /*control*/, Done done) override {
    wishes.push_back(wish);
    if (refusal) return done(tl::unexpected(*refusal));
    ++held;
    Accept accept;
    accept.device = "rxe0";
    accept.address = some_address();
    accept.granted = wish.wanted;
    if (wish.transport == Transport::rdma_cm) accept.cm_address = CmAddress{7471, {1, 2, 3}};
    done(Offer{accept, std::shared_ptr<void>(this, [this](void*) { --held; })});
  }
};

struct FakeNear : QpPairs {
  int disposed = 0;
  QpPairRequest request;
  Transport transport = Transport::verbs;
  std::chrono::milliseconds making{0};
  std::chrono::milliseconds connecting{0};
  void make(QpPairRequest wanted, std::function<void(SetUp<std::shared_ptr<QpPair>>)> done) override {
    request = std::move(wanted);
    std::this_thread::sleep_for(making);
    auto end = std::make_shared<QpPair>();
    end->local = some_address();
    end->transport = transport;
    done(std::move(end));
  }
  PathSettings path;
  std::optional<CmAddress> cm_address;
  void connect(std::shared_ptr<QpPair> /*end*/, const Accept& accept, const PathSettings& settings,
               std::function<void(SetUp<void>)> done) override {
    path = settings;
    cm_address = accept.cm_address;
    std::this_thread::sleep_for(connecting);
    done({});
  }
  void dispose(std::shared_ptr<QpPair> /*end*/) override { ++disposed; }
};

class ProbeSideChannel : public testing::Test {
 protected:
  struct Dialed {
    bool over = false;
    Connection connection;
    std::optional<Failure> failure;
    std::chrono::seconds cap{};
    std::optional<Failure> lost;
    std::vector<Failure> interruptions;
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
    dialer.connect(Op::write,
                   [dialed](tl::expected<Connection, ConnectError> answer) {
                     dialed->over = true;
                     if (answer) {
                       dialed->connection = std::move(*answer);
                     } else {
                       dialed->failure = answer.error().failure;
                       dialed->cap = answer.error().cap;
                     }
                   },
                   {[dialed](const Failure& failure) { dialed->interruptions.push_back(failure); },
                    [dialed](const Failure& failure) { dialed->lost = failure; }});
    return dialed;
  }

  std::shared_ptr<Dialed> dial_and_wait(DialerOptions options) {
    auto dialed = dial(std::move(options));
    EXPECT_TRUE(run_until([&] { return dialed->over; }));
    return dialed;
  }

  void expect_lease(const std::shared_ptr<Dialed>& dialed) {
    ASSERT_TRUE(dialed->connection.pair) << (dialed->failure ? dialed->failure->reason : "");
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
    EXPECT_TRUE(tls) << tls.error().context.text();
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

inline const std::string kKey = std::string(64, 'a');

}  // namespace rdma_exporter::probe
