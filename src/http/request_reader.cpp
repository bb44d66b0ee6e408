// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/request_reader.h"

#include <cstdint>
#include <cstring>

#include "asio/socket.h"

namespace rdma_exporter::http {
namespace {

/// The status for what the parser of Beast found wrong.
unsigned status_of(const beast::error_code& error) {
  if (error == beast::http::error::header_limit) return 431;
  if (error == beast::http::error::body_limit) return 413;
  return 400;
}

}  // namespace

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
