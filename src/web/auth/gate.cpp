// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/gate.h"

#include <chrono>
#include <utility>

namespace rdma_exporter::web {
namespace {

http::Admission admission(PasswordCheck::Verdict verdict) {
  switch (verdict) {
    case PasswordCheck::Verdict::right:
      return http::Admission::admitted;
    case PasswordCheck::Verdict::wrong:
      return http::Admission::wrong_credentials;
    case PasswordCheck::Verdict::queue_full:
      return http::Admission::password_queue_full;
  }
  return http::Admission::wrong_credentials;
}

}  // namespace

void Gate::use(std::shared_ptr<const Policy> policy) {
  const std::optional<config::RateLimit> before = policy_->rate_limit;
  policy_ = std::move(policy);
  passwords_->set_users(policy_->users);
  const std::optional<config::RateLimit>& limit = policy_->rate_limit;
  if (limit == before) return;
  bucket_.reset();
  if (limit) bucket_.emplace(limit->interval, limit->burst);
}

void Gate::admit(const http::Request& request, const std::string& client, Answer answer) {
  if (bucket_ && !bucket_->take(std::chrono::steady_clock::now()))
    return answer(http::Admission::rate_limited);
  if (policy_->users.empty()) return answer(http::Admission::admitted);
  if (request.authorization.empty()) return answer(http::Admission::no_credentials);
  const auto credentials = parse_basic_auth(request.authorization);
  if (!credentials) return answer(http::Admission::wrong_credentials);
  passwords_->check(*credentials, client, [answer = std::move(answer)](PasswordCheck::Verdict verdict) {
    answer(admission(verdict));
  });
}

}  // namespace rdma_exporter::web
