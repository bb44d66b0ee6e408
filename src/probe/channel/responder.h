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

/// The addresses of a control connection.
struct ControlAddresses {
  std::string own;
  std::string peer;
};

/// Creates this host's ends of the connections that peers request. Thread-safe.
class Acceptor {
 public:
  struct Offer {
    Accept accept;
    /// The queue pairs. They are destroyed with the last reference, which may be dropped on any thread.
    std::shared_ptr<void> held;
  };
  using Done = std::function<void(tl::expected<Offer, Reject>)>;
  virtual ~Acceptor() = default;
  /// `done` is called once, on any thread, within a bounded time.
  virtual void accept(const Connect& wish, const ControlAddresses& control, Done done) = 0;
};

struct ResponderOptions {
  std::vector<std::vector<asio::ip::tcp::endpoint>> listen{};  ///< of each, the first that can be bound
  Credentials credentials{};
  bool insecure = false;                 ///< listen beyond loopback without credentials
  std::string cluster{};                 ///< peers of other clusters are refused
  std::string host{};                    ///< name of this host
  unsigned max_sessions_per_peer = 256;  ///< by address, including connections that may become one
  /// Connections without a session yet. When there are more, the address with the most loses its oldest.
  unsigned max_pending = 64;
  std::chrono::milliseconds message_time{2'000};     ///< for each step of the exchange
  std::chrono::milliseconds lease_time{30'000};      ///< maximum time without a ping
  std::chrono::milliseconds hold_time{15 * 60'000};  ///< for the ends of a lease whose connection broke
  /// The shorter hold_time once the peer's host has connected again: peers retry every half minute.
  std::chrono::milliseconds resume_time{60'000};
};

/// Refuses an endpoint beyond loopback if it would be `open`: usable by everybody, without credentials.
core::Result<void> check_listen(const asio::ip::tcp::endpoint& endpoint, bool open);

/// The server of the control connection. When a peer ends its TCP connection, its ends are released. If the
/// connection breaks instead, they are held for a while, so that the peer can continue measuring and resume
/// the lease. The devices' queue pairs limit the number of sessions. Everything runs on the thread of `io`.
class Responder {
 public:
  Responder(asio::io_context& io, ResponderOptions options, Acceptor& acceptor);
  ~Responder();
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// Refuses to listen beyond loopback without credentials, unless the configuration allows it.
  core::Result<void> start();
  /// Reads the secret file again, for new connections; existing sessions continue. On error nothing changes.
  core::Result<void> renew_secrets();
  /// Takes effect for new sessions.
  void set_max_sessions_per_peer(unsigned most);
  /// Ends the sessions on a device that is going away.
  void end_sessions_of(const std::string& device);
  /// Ends every session.
  void stop();

  std::vector<asio::ip::tcp::endpoint> bound() const;
  std::size_t sessions() const;  ///< including those that are held()
  std::size_t held() const;
  std::size_t pending() const;
  /// Refused connections by reason: "rejected_limit", "tls", "protocol", "deadline", ...; string literals.
  const std::map<std::string_view, std::uint64_t>& refused() const;

 private:
  class Session;
  struct Shared;
  struct Held;
  std::shared_ptr<Shared> shared_;
  std::vector<TcpAcceptor> acceptors_;
  Timer pause_;  // before the next accept, after a failed one
  asio::io_context& io_;
  core::Result<void> open(const std::vector<asio::ip::tcp::endpoint>& alternatives);
  void listen(TcpAcceptor& acceptor);
  void admit(const std::shared_ptr<Channel>& channel);
  std::shared_ptr<Session> to_displace(const std::string& peer) const;
};

}  // namespace rdma_exporter::probe
