// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "asio/beast.h"
#include "http/request.h"

namespace rdma_exporter::http {

/// Parses one request message. Keeps only the headers that the routes need and drops the body, so that
/// nothing is allocated per request once the strings of `request` have grown. Use one parser per message.
class RequestParser final : public beast::http::basic_parser<true> {
 public:
  RequestParser(Request& request, std::uint32_t max_header_bytes, std::uint64_t max_body_bytes);

  /// Returns the status with which to reject the message if its complete header is invalid, or 0 if it is
  /// valid. Call it once is_header_done() is true.
  unsigned header_status() const;
  bool is_http_1_0() const { return version_ == 10; }

 private:
  using Verb = beast::http::verb;
  using Field = beast::http::field;
  using Text = beast::string_view;
  using ErrorCode = beast::error_code;

  void on_request_impl(Verb verb, Text method, Text target, int version, ErrorCode& error) override;
  void on_response_impl(int status, Text reason, int version, ErrorCode& error) override;
  void on_field_impl(Field field, Text name, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>& size, ErrorCode& error) override;
  std::size_t on_body_impl(Text body, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t size, Text extensions, ErrorCode& error) override;
  std::size_t on_chunk_body_impl(std::uint64_t remaining, Text body, ErrorCode& error) override;
  void on_finish_impl(ErrorCode& error) override;

  Request& request_;
  int version_ = 0;
  unsigned hosts_ = 0;
  bool transfer_encoding_ = false;
  bool expectation_ = false;
};

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
