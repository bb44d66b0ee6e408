// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/response.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace rdma_exporter::net {
namespace {

void append_number(std::string& out, std::size_t value) {
  std::array<char, 20> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

}  // namespace

Response text_response(unsigned status, std::string_view body) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(body);
  return response;
}

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Unknown";
  }
}

void write_head(std::string& out, const Response& response, std::string_view date_line,
                Persistence persistence) {
  out.assign("HTTP/1.1 ");
  append_number(out, response.status);
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  out.append(date_line);
  out.append("Content-Type: ").append(response.content_type).append("\r\n");
  out.append("Content-Length: ");
  append_number(out, response.body ? response.body->size() : 0);
  out.append("\r\n").append(response.extra_headers);
  if (persistence == Persistence::close) out.append("Connection: close\r\n");
  if (persistence == Persistence::keep_alive) out.append("Connection: keep-alive\r\n");
  out.append("\r\n");
}

}  // namespace rdma_exporter::net
