// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/request.h"
#include "http/response.h"

namespace boost::asio::ssl {
class context;
}

// What a server needs from its user: answers, and who may ask.
namespace rdma_exporter::http {

/// What a server serves. All calls come on the io thread and must not block it.
class Handler {
 public:
  using Answer = std::function<void(Response)>;

  virtual ~Handler() = default;

  /// Calls `answer` exactly once, now or later. `request` is not used after the return. A HEAD request is
  /// answered like a GET; the caller omits the body.
  virtual void handle(const Request& request, Answer answer) = 0;

  /// Bytes of responses that have to be freed before the response to `request` can be made; 0: none.
  virtual std::size_t missing_room(const Request& request) const = 0;
};

/// The outcome of the checks that a request passes before the handler sees it.
enum class Admission : unsigned char {
  admitted,
  rate_limited,
  no_credentials,
  wrong_credentials,
  password_queue_full,
};

/// Decides who is let in and how connections are secured. Io thread only.
class AccessControl {
 public:
  using Answer = std::function<void(Admission)>;

  virtual ~AccessControl() = default;

  /// The TLS context of new connections; null: plain HTTP.
  virtual std::shared_ptr<boost::asio::ssl::context> tls() const = 0;

  /// Headers added to every response: whole lines, each ending in CRLF. Valid until the next event.
  virtual std::string_view response_headers() const = 0;

  /// Calls `answer` exactly once, now or later. `request` is not used after the return; `client` is the
  /// address of its sender.
  virtual void admit(const Request& request, const std::string& client, Answer answer) = 0;
};

}  // namespace rdma_exporter::http
