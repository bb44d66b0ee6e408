// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/response.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace rdma_exporter::http {
namespace {

void append_number(std::string& out, std::size_t value) {
  std::array<char, 20> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), result.ptr);
}

/// The lines of `extra` whose name no line of `configured` has.
void append_extra(std::string& out, std::string_view extra, std::string_view configured) {
  while (!extra.empty()) {
    const std::string_view line = extra.substr(0, extra.find('\n') + 1);
    const std::string_view name = line.substr(0, line.find(':') + 1);
    const std::size_t at = configured.find(name);
    const bool overruled = at != std::string_view::npos && (at == 0 || configured[at - 1] == '\n');
    if (!overruled) out.append(line);
    extra.remove_prefix(line.size());
  }
}

}  // namespace

Response text_response(unsigned status, std::string_view body) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(body);
  return response;
}

const Response& no_memory() {
  static const Response no_room = [] {
    Response response = text_response(503, "not enough memory for the answer, try again\n");
    response.extra_headers = "Retry-After: 1\r\n";
    response.refused = RefusedRequest::memory;
    return response;
  }();
  return no_room;
}

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
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
    case 429:
      return "Too Many Requests";
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
                std::string_view configured, Persistence persistence) {
  out.assign("HTTP/1.1 ");
  append_number(out, response.status);
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  out.append(date_line);
  out.append("Content-Type: ").append(response.content_type).append("\r\n");
  out.append("Content-Length: ");
  append_number(out, response.body ? response.body->size() : 0);
  out.append("\r\n");
  append_extra(out, response.extra_headers, configured);
  out.append(configured);
  if (persistence == Persistence::close) out.append("Connection: close\r\n");
  if (persistence == Persistence::keep_alive) out.append("Connection: keep-alive\r\n");
  out.append("\r\n");
}

DateHeader::DateHeader(Clock clock) : clock_(std::move(clock)) {
  if (!clock_) clock_ = [] { return std::time(nullptr); };
}

std::string_view DateHeader::line() {
  const std::time_t now = clock_();
  if (now == rendered_for_) return line_;
  std::tm utc{};
  std::array<char, 64> text{};
  // The names of days and months are English because no part of the program sets a locale.
  const std::size_t size =
      gmtime_r(&now, &utc) == nullptr
          ? 0
          : std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
  line_.assign(text.data(), size);
  rendered_for_ = now;
  return line_;
}

}  // namespace rdma_exporter::http
