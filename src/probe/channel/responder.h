// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "probe/channel/channel.h"
#include "probe/channel/frame.h"
#include "probe/channel/tls.h"

namespace rdma_exporter::probe {

/// Makes this host's ends of the connections that peers ask for. Thread-safe.
class Acceptor {
 public:
  struct Offer {
    Accept accept;
    std::shared_ptr<void>
        held;  ///< the ends; the last reference gives them back, and may be dropped on any thread
  };
  using Done = std::function<void(tl::expected<Offer, Reject>)>;
  virtual ~Acceptor() = default;
  /// `control_address`: own address of the side channel. `done` is called once, on any thread, in bounded
  /// time.
  virtual void accept(const Connect& wish, const std::string& control_address, Done done) = 0;
};

struct ResponderOptions {
  std::vector<std::vector<asio::ip::tcp::endpoint>> listen{};  ///< of each the first that can be had
  Credentials credentials{};
  bool insecure = false;  ///< listen beyond loopback without credentials
  std::string cluster{};  ///< peers of another are refused
  std::string host{};     ///< what this host calls itself
  unsigned most_sessions = 256;
  unsigned most_sessions_per_peer = 64;  ///< by address, with those that are none yet
  unsigned most_pending = 64;  ///< connections that have not come to a session yet; beyond, who has most of
                               ///< them makes room for others
  std::chrono::milliseconds message_time{2'000};  ///< for each step of the exchange
  std::chrono::milliseconds lease_time{30'000};   ///< without a ping
};

/// Refuses an endpoint beyond loopback when it would be `open`: for everybody, without credentials.
core::Result<void> check_listen(const asio::ip::tcp::endpoint& endpoint, bool open);

/// The server of the side channel. A session lives as long as its TCP connection: when that ends, its ends
/// are given back. Everything on the thread of `io`.
class Responder {
 public:
  Responder(asio::io_context& io, ResponderOptions options, Acceptor& acceptor);
  ~Responder();
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// Refuses to listen beyond loopback without credentials, unless told that this is wanted.
  core::Result<void> start();
  /// Ends the sessions on a device that is going away.
  void end_sessions_of(const std::string& device);
  /// Ends every session.
  void stop();

  std::vector<asio::ip::tcp::endpoint> bound() const;
  std::size_t sessions() const;
  std::size_t pending() const;
  /// Connections that came to nothing, by reason: "rejected_limit", "tls", "protocol", "deadline", ...;
  /// static texts.
  const std::map<std::string_view, std::uint64_t>& refused() const;

 private:
  class Session;
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<TcpAcceptor> acceptors_;
  Timer pause_;  // before the next accept, when one failed
  asio::io_context& io_;
  core::Result<void> open(const std::vector<asio::ip::tcp::endpoint>& alternatives);
  void listen(TcpAcceptor& acceptor);
  void admit(const std::shared_ptr<Channel>& channel);
  std::shared_ptr<Session> to_displace(const std::string& peer) const;
};

}  // namespace rdma_exporter::probe
