// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "http/handler.h"
#include "http/http_counters.h"
#include "http/response.h"

namespace rdma_exporter::http {

/// The states of a connection, which decide which one to close if there are too many.
enum class ConnectionState : unsigned char {
  fresh,  ///< has not yet sent a complete request that was let in
  idle,   ///< between two requests
  busy,   ///< a request is in progress, or its password is waiting to be checked
};

class Connection;
struct Peer;

/// Connections in the order in which they reached their state.
using ConnectionList = std::list<Connection*>;

/// One open connection, whatever the type of its stream.
class Connection {
 public:
  /// Ends it as soon as no response is in flight: at once if idle, otherwise after the response.
  virtual void stop() = 0;
  /// Ends it now. Nothing of the handler is used afterwards.
  virtual void close() = 0;
  /// Bytes of the page that is being sent to the client.
  virtual std::size_t sending() const { return 0; }
  /// Ends it now to make room for another page.
  virtual void give_up_page() { close(); }
  ConnectionState connection_state() const { return connection_state_; }

 protected:
  virtual ~Connection() = default;

 private:
  friend class Connections;
  // Valid while it is in a Connections object.
  Peer* peer_ = nullptr;
  ConnectionList::iterator place_;
  std::uint64_t since_ = 0;
  ConnectionState connection_state_ = ConnectionState::fresh;
};

/// Orders addresses by which one gives up a connection first: the one with the most connections that can be
/// closed without losing a request; if equal, one with a fresh connection, the one that has waited longest.
struct Rank {
  std::size_t waiting = 0;
  bool only_idle = false;
  std::uint64_t since = 0;
  Peer* peer = nullptr;
  bool operator<(const Rank& other) const;
};
using Ranking = std::set<Rank>;

/// The connections of one address.
struct Peer {
  std::string address;
  std::array<ConnectionList, 3> lists;  ///< by state
  Ranking::iterator rank;
};

/// The open connections of a server. Io thread only. The cost of what is called for each connection or
/// request hardly grows with their number.
class Connections {
 public:
  void add(Connection& connection, const std::string& address);  ///< adds it as fresh
  void remove(Connection& connection);
  void move(Connection& connection, ConnectionState state);
  std::size_t size() const { return size_; }

  /// Closes a connection whose loss loses no request, of the address that has the most of them, so that a
  /// flood makes room for itself. The oldest fresh one goes first, so that a client that sends its request
  /// quickly gets in past any number of slow ones; otherwise the one that has been idle longest. False if all
  /// are busy.
  bool evict_one();

  /// Closes connections that are being sent pages of `bytes` in all, the slowest first, of the addresses that
  /// are being sent the most, as long as that is more than the address of `asker` is being sent. False if
  /// that is not enough.
  bool free_pages(const Connection& asker, std::size_t bytes);

  void stop_all();
  void close_all();

 private:
  Peer& peer_of(const std::string& address);
  void rank(Peer& peer);
  std::vector<Connection*> all() const;

  std::map<std::string, Peer> peers_;
  Ranking ranking_;
  std::size_t size_ = 0;
  std::uint64_t moves_ = 0;
};

/// Limits on the connections, and on each of them.
struct SessionLimits {
  unsigned max_connections = 128;
  std::chrono::milliseconds read_timeout{
      10000};  ///< a TLS handshake; the first byte of a request to its last
  std::chrono::milliseconds idle_timeout{120000};  ///< without a byte between two requests
  std::chrono::milliseconds write_timeout{10000};  ///< for the whole of a response
  std::chrono::milliseconds linger{1000};          ///< for the client to read a refusal and close
  std::size_t max_header_bytes = 8192;             ///< request line and headers; at least 128
  std::size_t max_body_bytes = 4096;               ///< a body is read and dropped
  unsigned max_requests = 1000;                    ///< the last response says that it is
};

/// Limits log lines that clients can cause at will to one a minute.
class LogThrottle {
 public:
  bool should_log();

 private:
  std::chrono::steady_clock::time_point last_ = {};
};

/// The state shared by all connections of a server. Handler and counters outlive the last turn of the event
/// loop, unless every connection is closed before they go.
struct SessionContext {
  Handler& handler;
  HttpCounters& counters;
  SessionLimits limits = {};
  DateHeader date = DateHeader();
  std::shared_ptr<AccessControl> access = {};  ///< null: plain HTTP, and every request is let in
  Connections serving = {};
  Connections refused = {};  ///< connections that are being told that there are too many
  bool stopping = false;
  LogThrottle accept_errors = {};
  LogThrottle limits_reached = {};
  LogThrottle handshakes_failed = {};
  LogThrottle wrong_credentials = {};
};

}  // namespace rdma_exporter::http
