// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/password_check.h"
#include "net/policy.h"
#include "net/request.h"
#include "net/token_bucket.h"

namespace rdma_exporter::net {

enum class Admission : unsigned char {
  admitted,
  rate_limited,
  no_credentials,
  wrong_credentials,
  password_queue_full,
};

/// Stands before the routes: every request, whatever its path, needs to pass the rate limit and the password
/// check of the policy in force. Io thread only.
class Gate {
 public:
  using Answer = std::function<void(Admission)>;

  explicit Gate(std::shared_ptr<PasswordCheck> passwords) : passwords_(std::move(passwords)) {}

  /// For connections and requests from now on. The rate limit starts anew only when it changed.
  void use(std::shared_ptr<const Policy> policy);
  const Policy& policy() const { return *policy_; }

  /// Calls `answer` exactly once, now or later. `request` is not used after the return.
  void admit(const Request& request, const std::string& client, Answer answer);

 private:
  std::shared_ptr<PasswordCheck> passwords_;
  std::shared_ptr<const Policy> policy_ = std::make_shared<Policy>();
  std::optional<TokenBucket> bucket_;
};

}  // namespace rdma_exporter::net
