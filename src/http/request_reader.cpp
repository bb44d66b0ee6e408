// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/request_reader.h"

#include <boost/beast/core/string.hpp>
#include <cstdint>
#include <cstring>

#include "asio/socket.h"

namespace rdma_exporter::http {
namespace {

// Headers of the same name are one list (RFC 9110, 5.3).
void append_to_list(std::string& list, beast::string_view value) {
  if (!list.empty()) list += ',';
  list.append(value.data(), value.size());
}

Method method_of(beast::http::verb verb) {
  using Verb = beast::http::verb;
  return verb == Verb::get    ? Method::get
         : verb == Verb::head ? Method::head
         : verb == Verb::post ? Method::post
                              : Method::other;
}

/// The status for what the parser of Beast found wrong.
unsigned status_of(const beast::error_code& error) {
  if (error == beast::http::error::header_limit) return 431;
  if (error == beast::http::error::body_limit) return 413;
  return 400;
}

}  // namespace

RequestParser::RequestParser(Request& request, std::uint32_t max_header_bytes, std::uint64_t max_body_bytes)
    : request_(request) {
  header_limit(max_header_bytes);
  body_limit(max_body_bytes);
  request_.scrape_timeout.clear();
  request_.accept.clear();
  request_.accept_encoding.clear();
  request_.authorization.clear();
}

unsigned RequestParser::header_status() const {
  // RFC 9112, 3.2: exactly one Host, except that HTTP/1.0 may have none.
  if (hosts_ > 1 || (hosts_ == 0 && version_ == 11)) return 400;
  // A body whose end cannot be known must not be taken for the next request.
  if (transfer_encoding_ && !chunked()) return 400;
  // The body is of no use here, so a client that asks before it sends one is told not to.
  if (expectation_ && version_ == 11) return 417;
  return 0;
}

void RequestParser::on_request_impl(Verb verb, Text, Text target, int version, ErrorCode&) {
  request_.method = method_of(verb);
  request_.target.assign(target.data(), target.size());
  version_ = version;
}

void RequestParser::on_field_impl(Field field, Text name, Text value, ErrorCode&) {
  if (is_header_done()) return;  // a trailer of a chunked body
  if (field == Field::host) ++hosts_;
  if (field == Field::transfer_encoding) transfer_encoding_ = true;
  if (field == Field::expect) expectation_ = true;
  if (field == Field::accept) append_to_list(request_.accept, value);
  if (field == Field::accept_encoding) append_to_list(request_.accept_encoding, value);
  if (field == Field::authorization && request_.authorization.empty())
    request_.authorization.assign(value.data(), value.size());
  if (field == Field::unknown && beast::iequals(name, "X-Prometheus-Scrape-Timeout-Seconds")) {
    request_.scrape_timeout.assign(value.data(), value.size());
  }
}

std::size_t RequestParser::on_body_impl(Text body, ErrorCode&) { return body.size(); }

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) { return body.size(); }

// The rest of what the base class wants to tell is of no interest.
void RequestParser::on_response_impl(int, Text, int, ErrorCode&) {}
void RequestParser::on_header_impl(ErrorCode&) {}
void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) {}
void RequestParser::on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) {}
void RequestParser::on_finish_impl(ErrorCode&) {}

RequestReader::RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes)
    : max_header_bytes_(max_header_bytes), max_body_bytes_(max_body_bytes), buffer_(max_header_bytes) {
  next_message();
}

void RequestReader::next_message() {
  header_bytes_ = 0;
  parser_.emplace(request_, static_cast<std::uint32_t>(max_header_bytes_), max_body_bytes_);
}

void RequestReader::clear() { begin_ = end_ = 0; }

std::span<char> RequestReader::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0 && end_ == buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(buffer_).subspan(end_);
}

void RequestReader::received(std::size_t bytes) { end_ += bytes; }

RequestReader::Progress RequestReader::next() {
  while (begin_ < end_) {
    const bool header_was_done = parser_->is_header_done();
    beast::error_code error;
    const std::size_t parsed =
        parser_->put(asio::const_buffer(buffer_.data() + begin_, end_ - begin_), error);
    begin_ += parsed;
    if (!header_was_done) {
      header_bytes_ += parsed;
      // The parser forgets what it has taken in, so its own limit does not see a header that comes in pieces.
      if (header_bytes_ + (parser_->is_header_done() ? 0 : end_ - begin_) > max_header_bytes_)
        return fail(431);
    }
    if (error == beast::http::error::need_more) break;
    if (error) return fail(status_of(error));
    if (!header_was_done && parser_->header_status() != 0) return fail(parser_->header_status());
    if (parser_->is_done()) return Progress::request;
  }
  // Only the line of a chunk can be longer than the buffer here; nobody sends such chunk extensions.
  return space().empty() ? fail(400) : Progress::need_more;
}

RequestReader::Progress RequestReader::fail(unsigned status) {
  error_status_ = status;
  return Progress::bad;
}

}  // namespace rdma_exporter::http
