// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/handler.h"
#include "task/token_bucket.h"
#include "web/auth/password_check.h"
#include "web/policy/policy.h"

namespace rdma_exporter::web {

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
  std::optional<task::TokenBucket> bucket_;  ///< for policy_->rate_limit
};

}  // namespace rdma_exporter::web
