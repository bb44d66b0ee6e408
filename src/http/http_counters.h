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
  connection_limit,  ///< --web.max-connections were open, each with a request in progress
  displaced,         ///< it had no request in progress and made room for a newer connection at that limit
  accept_error,      ///< accept(2) failed, for instance because no file descriptor was left
  tls_handshake,  ///< the TLS handshake failed: version, cipher suite, certificate, or a client without TLS
  tls_timeout,    ///< the handshake did not finish within --web.read-timeout
};
inline constexpr unsigned kRefusals = 5;

/// Why a request was not served on a connection that was accepted.
enum class RefusedRequest : unsigned char {
  malformed,          ///< 400
  header_size,        ///< 431
  body_size,          ///< 413
  expectation,        ///< 417
  header_timeout,     ///< 408
  body_timeout,       ///< 408
  write_timeout,      ///< the client did not receive the response within --web.write-timeout
  no_credentials,     ///< 401
  wrong_credentials,  ///< 401
  password_queue,     ///< 503: too many passwords are waiting to be checked
  rate_limit,         ///< 429
  memory,             ///< 503: the pages in flight left no room for the response, or the system had no memory
};
inline constexpr unsigned kRefusedRequests = 12;

/// Counts what the server has done since it started. Thread-safe.
class HttpCounters {
 public:
  using VisitReason = std::function<void(std::string_view, std::uint64_t)>;

  HttpCounters();
  /// Counts one request answered with `status` (100 to 599; anything else counts as 500).
  void count(unsigned status);
  void count(Refusal reason);
  void count(RefusedRequest reason);
  /// Records whether the file of --web.config.file was valid when it was read, at the start or later.
  void count_web_config(bool good);

  /// Calls `visit(status, requests)` in ascending order for the statuses that have occurred, and always for
  /// 200, 500 and 503, so that a rate over them has a first value.
  void for_each_status(const std::function<void(unsigned, std::uint64_t)>& visit) const;

  /// Calls `visit(reason, connections)` for every reason, even if the count is 0.
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

  void show(unsigned index);

  static constexpr unsigned kFirstStatus = 100;
  static constexpr unsigned kStatuses = 500;
  static constexpr unsigned kBits = 64;
  std::array<Count, kStatuses> statuses_{};
  /// The statuses that are shown, a bit each: 500 counts are more than a scrape should look through.
  std::array<std::atomic<std::uint64_t>, kStatuses / kBits + 1> shown_{};
  std::array<Count, kRefusals> refusals_{};
  std::array<Count, kRefusedRequests> refused_requests_{};
  std::atomic<LastRead> last_web_config_{LastRead::none};
  Count web_config_failures_{0};
};

}  // namespace rdma_exporter::http
