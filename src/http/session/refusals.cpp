// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/refusals.h"

namespace rdma_exporter::http {
namespace {

constexpr std::string_view kAsk = "WWW-Authenticate: Basic realm=\"rdma_exporter\", charset=\"UTF-8\"\r\n";
constexpr std::string_view kLater = "Retry-After: 1\r\n";

Response with_headers(Response response, std::string_view headers) {
  response.extra_headers = headers;
  return response;
}

}  // namespace

RefusedRequest reason_of(unsigned status) {
  switch (status) {
    case 413:
      return RefusedRequest::body_size;
    case 417:
      return RefusedRequest::expectation;
    case 431:
      return RefusedRequest::header_size;
    default:
      return RefusedRequest::malformed;
  }
}

Response refusal_of(Admission admission) {
  switch (admission) {
    case Admission::rate_limited:
      return with_headers(text_response(429, "too many requests\n"), kLater);
    case Admission::no_credentials:
      return with_headers(text_response(401, "a user name and a password are needed\n"), kAsk);
    case Admission::wrong_credentials:
      return with_headers(text_response(401, "wrong user name or password\n"), kAsk);
    case Admission::password_queue_full:
      return with_headers(text_response(503, "too many passwords are being checked\n"), kLater);
    case Admission::admitted:
      break;
  }
  return text_response(500, "internal error\n");
}

void count_and_log(SessionContext& context, Admission admission, const std::string& peer) {
  switch (admission) {
    case Admission::rate_limited:
      return context.counters.count(RefusedRequest::rate_limit);
    case Admission::no_credentials:
      return context.counters.count(RefusedRequest::no_credentials);
    case Admission::password_queue_full:
      return context.counters.count(RefusedRequest::password_queue);
    case Admission::wrong_credentials:
      context.counters.count(RefusedRequest::wrong_credentials);
      if (context.wrong_credentials.should_log())
        log::warn("wrong user name or password", {{"client", peer}});
      return;
    case Admission::admitted:
      return;
  }
}

void report_handshake_failure(SessionContext& context, TlsStream& stream, const std::string& peer,
                              const boost::system::error_code& error) {
  answer_plain_http(stream, error);
  // Who only looks whether the port is open goes away without a word.
  if (error.category() != asio::error::get_ssl_category() || !context.handshakes_failed.should_log()) return;
  log::warn("TLS handshake failed", {{"client", peer}, {"why", handshake_problem(stream, error)}});
}

}  // namespace rdma_exporter::http
