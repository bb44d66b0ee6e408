// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

namespace rdma_exporter::net {

/// Why a connection was not served.
enum class Refusal : unsigned char {
  connection_limit,  ///< --web.max-connections were open
  accept_error,      ///< accept(2) failed, for instance because no file descriptor was left
};

/// What the server did since it started. Any thread may count and read.
class HttpCounters {
 public:
  /// One request answered with `status` (100 to 599; anything else is counted as 500).
  void count(unsigned status);
  void count(Refusal reason);

  /// Calls `visit(status, requests)` in ascending order, for the statuses that occurred and always for 200,
  /// 500 and 503, so that a rate over them has a first value.
  void for_each_status(const std::function<void(unsigned, std::uint64_t)>& visit) const;

  /// Calls `visit(reason, connections)` for every reason, also while it is 0.
  void for_each_refusal(const std::function<void(std::string_view, std::uint64_t)>& visit) const;

 private:
  static constexpr unsigned kFirstStatus = 100;
  static constexpr unsigned kStatuses = 500;
  static constexpr unsigned kRefusals = 2;
  std::array<std::atomic<std::uint64_t>, kStatuses> statuses_{};
  std::array<std::atomic<std::uint64_t>, kRefusals> refusals_{};
};

}  // namespace rdma_exporter::net
