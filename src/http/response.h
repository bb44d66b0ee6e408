// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_counters.h"

namespace rdma_exporter::http {

/// An answer. The body is shared and never copied: the socket writes straight from it.
struct Response {
  unsigned status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";  ///< of static storage
  std::shared_ptr<const std::string> body;                      ///< null is an empty body
  std::string_view extra_headers = {};         ///< of static storage; whole lines, each ending in CRLF
  std::optional<RefusedRequest> refused = {};  ///< what to count this as, besides its status
};

/// A plain text response for a person.
Response text_response(unsigned status, std::string_view body);

/// 503 for want of memory; needs none itself.
const Response& no_memory();

/// "Not Found" for 404; "Unknown" for a status this server does not send.
std::string_view reason_phrase(unsigned status);

/// What the Connection header says: nothing (the default of HTTP/1.1), or one of the two words.
enum class Persistence : unsigned char { implied, keep_alive, close };

/// Overwrites `out` with status line and headers up to and including the empty line. `date_line` ends in
/// CRLF. `configured` are header lines for every response; they win over the response's own of the same name.
void write_head(std::string& out, const Response& response, std::string_view date_line,
                std::string_view configured, Persistence persistence);

}  // namespace rdma_exporter::http
