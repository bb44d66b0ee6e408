// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/result.h"
#include "web/policy/policy.h"

namespace rdma_exporter::web {

/// Decides whether a policy may replace another one in a running server. A file never weakens security by
/// itself: one that is torn, or still being written, is often a valid file that requires less. Requiring less
/// takes a restart.
///
/// Client names, cipher suites, curves and the rate limit may go back to what was in force before, so that a
/// torn file that was stricter does not keep out the complete one that follows.
class PolicyGuard {
 public:
  /// The error is a complete message that names everything that would be weaker.
  core::Result<void> check(const Policy& now, const Policy& next, const std::string& path) const;

  /// Notes that `policy` is in force from now on.
  void accept(const Policy& policy);

 private:
  std::string weaker_tls(const TlsRules& now, const TlsRules& next) const;
  bool allows_more(const std::optional<config::RateLimit>& next) const;

  std::set<std::string> sans_;
  std::set<std::string> suites_;
  std::set<std::string> curves_;
  std::optional<config::RateLimit> rate_limit_;  ///< with the shortest interval and the largest burst so far
};

}  // namespace rdma_exporter::web
