// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_counters.h"

namespace rdma_exporter::http {

/// A response. The body is shared and never copied: the socket writes directly from it.
struct Response {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";  ///< of static storage
  std::shared_ptr<const std::string> body;                      ///< null is an empty body
  std::string_view extra_headers = {};  ///< of static storage; whole lines, each ending in CRLF
  std::optional<RefusedRequest> refused =
      {};  ///< the reason to count this response under, in addition to its status
};

/// A plain text response for a person.
Response text_response(unsigned status, std::string_view body);

/// 503 because of a lack of memory; needs none itself.
const Response& no_memory();

/// "Not Found" for 404; "Unknown" for a status that this server does not send.
std::string_view reason_phrase(unsigned status);

/// The value of the Connection header: none (the default of HTTP/1.1), or one of the two words.
enum class Persistence : unsigned char { implied, keep_alive, close };

/// Overwrites `out` with status line and headers, up to and including the empty line. `date_line` ends in
/// CRLF. `configured` has header lines for every response; they override the response's own headers of the
/// same name.
void write_head(std::string& out, const Response& response, std::string_view date_line,
                std::string_view configured, Persistence persistence);

/// The Date header that RFC 9110 (6.6.1) requires from a server with a clock, rendered once per second. Not
/// thread-safe.
class DateHeader {
 public:
  using Clock = std::function<std::time_t()>;

  /// `clock` returns seconds since the epoch; the default is the system clock.
  explicit DateHeader(Clock clock = {});

  /// "Date: Sun, 06 Nov 1994 08:49:37 GMT" and CRLF; valid until the next call.
  std::string_view line();

 private:
  Clock clock_;
  std::time_t rendered_for_ = -1;
  std::string line_;
};

}  // namespace rdma_exporter::http
