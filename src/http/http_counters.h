// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace rdma_exporter::http {

/// Why a connection was not served.
enum class Refusal : unsigned char {
  connection_limit,  ///< --web.max-connections were open, and each with a request in work
  displaced,         ///< it had no request in work, and made room for a newer connection at that limit
  accept_error,      ///< accept(2) failed, for instance because no file descriptor was left
  tls_handshake,     ///< no agreement on TLS: version, cipher suite, certificate, or no TLS at all
  tls_timeout,       ///< the handshake was not done within --web.read-timeout
};
inline constexpr unsigned kRefusals = 5;

/// Why a request was not served, on a connection that was.
enum class RefusedRequest : unsigned char {
  malformed,          ///< 400
  header_size,        ///< 431
  body_size,          ///< 413
  expectation,        ///< 417
  header_timeout,     ///< 408
  body_timeout,       ///< 408
  write_timeout,      ///< the client did not take the response within --web.write-timeout
  no_credentials,     ///< 401
  wrong_credentials,  ///< 401
  password_queue,     ///< 503: too many passwords wait to be checked
  rate_limit,         ///< 429
  memory,             ///< 503: the pages in flight left no room for the answer, or the system had no memory
};
inline constexpr unsigned kRefusedRequests = 12;

/// What the server did since it started. Any thread may count and read.
class HttpCounters {
 public:
  using VisitReason = std::function<void(std::string_view, std::uint64_t)>;

  /// One request answered with `status` (100 to 599; anything else is counted as 500).
  void count(unsigned status);
  void count(Refusal reason);
  void count(RefusedRequest reason);
  /// The file of --web.config.file was read, at the start or again.
  void count_web_config(bool good);

  /// Calls `visit(status, requests)` in ascending order, for the statuses that occurred and always for 200,
  /// 500 and 503, so that a rate over them has a first value.
  void for_each_status(const std::function<void(unsigned, std::uint64_t)>& visit) const;

  /// Calls `visit(reason, connections)` for every reason, also while it is 0.
  void for_each_refusal(const VisitReason& visit) const;
  /// The same for requests.
  void for_each_refused_request(const VisitReason& visit) const;

  struct WebConfigReads {
    bool last_good;
    std::uint64_t failures;
  };
  /// Nothing when there is no such file.
  std::optional<WebConfigReads> web_config() const;

 private:
  using Count = std::atomic<std::uint64_t>;
  enum class LastRead : unsigned char { none, good, bad };

  static constexpr unsigned kFirstStatus = 100;
  static constexpr unsigned kStatuses = 500;
  std::array<Count, kStatuses> statuses_{};
  std::array<Count, kRefusals> refusals_{};
  std::array<Count, kRefusedRequests> refused_requests_{};
  std::atomic<LastRead> last_web_config_{LastRead::none};
  Count web_config_failures_{0};
};

}  // namespace rdma_exporter::http
