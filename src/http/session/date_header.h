// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <string_view>

namespace rdma_exporter::http {

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
