// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_set>

#include "net/date_header.h"
#include "net/http_counters.h"
#include "net/routes.h"

namespace rdma_exporter::net {

/// One open connection, whatever its stream is.
class Connection {
 public:
  /// Ends it as soon as no response is in flight: at once when idle, else after the response.
  virtual void stop() = 0;
  /// Ends it now. Nothing of the routes is used afterwards.
  virtual void close() = 0;

 protected:
  ~Connection() = default;
};

/// The open connections of a server. Io thread only.
class Connections {
 public:
  void add(Connection& connection) { open_.insert(&connection); }
  void remove(Connection& connection) { open_.erase(&connection); }
  std::size_t size() const { return open_.size(); }
  void stop_all();
  void close_all();

 private:
  std::unordered_set<Connection*> open_;
};

/// The bounds of one connection.
struct SessionLimits {
  std::chrono::milliseconds read_timeout{10000};   ///< from the first byte of a request to its last
  std::chrono::milliseconds idle_timeout{120000};  ///< without a byte between two requests
  std::chrono::milliseconds write_timeout{10000};  ///< for the whole of a response
  std::chrono::milliseconds linger{1000};          ///< for the client to read a refusal and close
  std::size_t max_header_bytes = 8192;             ///< request line and headers; at least 128
  std::size_t max_body_bytes = 4096;               ///< a body is read and dropped
};

/// What all connections of a server share. Routes and counters outlive the event loop's last turn, or every
/// connection is closed before they go.
struct SessionContext {
  Routes& routes;
  HttpCounters& counters;
  SessionLimits limits = {};
  DateHeader date = DateHeader();
  Connections serving = {};
  Connections refused = {};  ///< being told that there are too many
  bool stopping = false;
  std::chrono::steady_clock::time_point accept_error_logged = {};  ///< these two are logged once a minute
  std::chrono::steady_clock::time_point limit_logged = {};
};

}  // namespace rdma_exporter::net
