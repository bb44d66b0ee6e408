// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/web/web_file.h"
#include "http/handler.h"
#include "web/auth/password_check.h"
#include "web/policy/policy.h"

namespace rdma_exporter::web {

/// Lets `burst` requests through at once and then one per interval; full at the start. Not thread-safe.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TokenBucket(const config::RateLimit& limit) : limit_(limit), tokens_(limit.burst) {}

  bool take(Clock::time_point now) {
    using Ratio = std::chrono::duration<double>;
    if (last_ != Clock::time_point()) tokens_ += Ratio(now - last_) / Ratio(limit_.interval);
    tokens_ = std::min(tokens_, double{1} * limit_.burst);
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  const config::RateLimit& limit() const { return limit_; }

 private:
  config::RateLimit limit_;
  double tokens_;
  Clock::time_point last_{};
};

/// Guards the routes: every request, whatever its path, has to pass the rate limit and the password check of
/// the policy in force. Io thread only.
class Gate final : public http::AccessControl {
 public:
  explicit Gate(std::shared_ptr<PasswordCheck> passwords) : passwords_(std::move(passwords)) {}

  /// Applies to connections and requests from now on. The rate limit starts afresh only if it has changed.
  void use(std::shared_ptr<const Policy> policy);
  const Policy& policy() const { return *policy_; }

  std::shared_ptr<boost::asio::ssl::context> tls() const override { return policy_->tls; }
  std::string_view response_headers() const override { return policy_->headers; }
  void admit(const http::Request& request, const std::string& client, Answer answer) override;

 private:
  std::shared_ptr<PasswordCheck> passwords_;
  std::shared_ptr<const Policy> policy_ = std::make_shared<Policy>();
  std::optional<TokenBucket> bucket_;
};

}  // namespace rdma_exporter::web
