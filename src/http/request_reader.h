// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "http/request_parser.h"

namespace rdma_exporter::http {

/// Turns the bytes of a connection into requests, one at a time. Put received bytes into space(), report them
/// with received(), then call next(). After the response, next_message() continues with pipelined bytes. The
/// buffer holds `max_header_bytes` and never grows.
class RequestReader {
 public:
  enum class Progress : unsigned char {
    need_more,  ///< space() has room
    request,    ///< request() is complete; its body has been read and dropped
    bad,  ///< error_status() is the status to reject it with; the rest of the connection cannot be parsed
  };

  RequestReader(std::size_t max_header_bytes, std::size_t max_body_bytes);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  std::span<char> space();
  void received(std::size_t bytes);
  Progress next();

  const Request& request() const { return request_; }
  unsigned error_status() const { return error_status_; }
  /// Whether the client of the complete request() wants to keep the connection open.
  bool keep_alive() const { return parser_->keep_alive(); }
  /// Whether request() is HTTP/1.0, where keeping the connection open has to be announced.
  bool is_http_1_0() const { return parser_->is_http_1_0(); }
  /// Whether any byte of the current message has arrived.
  bool started() const { return header_bytes_ > 0 || has_unread(); }
  /// Whether the header of the current message is complete.
  bool header_done() const { return parser_->is_header_done(); }
  /// Whether bytes have arrived that do not belong to a message yet.
  bool has_unread() const { return begin_ < end_; }

  void next_message();
  /// Discards everything that was received.
  void clear();

 private:
  Progress fail(unsigned status);

  std::size_t max_header_bytes_;
  std::size_t max_body_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< buffer_[begin_, end_) is received and not yet parsed
  std::size_t end_ = 0;
  std::size_t header_bytes_ = 0;  ///< parsed of the header of this message
  unsigned error_status_ = 0;
  Request request_;
  std::optional<RequestParser> parser_;
};

}  // namespace rdma_exporter::http
