// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace rdma_exporter::http
