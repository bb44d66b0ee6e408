// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/result.h"
#include "web/policy/policy.h"

namespace rdma_exporter::web {

/// Decides whether a policy may follow another one in a running server. A file weakens nothing by itself: one
/// that is torn, or still being written, is often a valid file that asks for less. Less is asked for only
/// after a restart.
///
/// Names of clients, cipher suites, curves and the rate limit may come back to what was in force before,
/// because a torn file that was narrower must not keep out the whole one that follows.
class PolicyGuard {
 public:
  /// The error is a whole message that names everything that would be weaker.
  core::Result<void> check(const Policy& now, const Policy& next, const std::string& path) const;

  /// `policy` is in force from now on.
  void accept(const Policy& policy);

 private:
  std::string weaker_tls(const TlsRules& now, const TlsRules& next) const;
  bool allows_more(const std::optional<config::RateLimit>& next) const;

  std::set<std::string> sans_;
  std::set<std::string> suites_;
  std::set<std::string> curves_;
  std::optional<config::RateLimit> rate_limit_;  ///< with the shortest interval and the largest burst
};

}  // namespace rdma_exporter::web
