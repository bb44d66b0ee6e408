// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/gate.h"

#include <chrono>
#include <utility>

namespace rdma_exporter::net {
namespace {

Admission admission(PasswordCheck::Verdict verdict) {
  switch (verdict) {
    case PasswordCheck::Verdict::right:
      return Admission::admitted;
    case PasswordCheck::Verdict::wrong:
      return Admission::wrong_credentials;
    case PasswordCheck::Verdict::queue_full:
      return Admission::password_queue_full;
  }
  return Admission::wrong_credentials;
}

}  // namespace

void Gate::use(std::shared_ptr<const Policy> policy) {
  policy_ = std::move(policy);
  passwords_->set_users(policy_->users);
  if (!policy_->rate_limit) return bucket_.reset();
  if (!bucket_ || bucket_->limit() != *policy_->rate_limit) bucket_.emplace(*policy_->rate_limit);
}

void Gate::admit(const Request& request, const std::string& client, Answer answer) {
  if (bucket_ && !bucket_->take(std::chrono::steady_clock::now())) return answer(Admission::rate_limited);
  if (policy_->users.empty()) return answer(Admission::admitted);
  if (request.authorization.empty()) return answer(Admission::no_credentials);
  const auto credentials = parse_basic_auth(request.authorization);
  if (!credentials) return answer(Admission::wrong_credentials);
  passwords_->check(*credentials, client, [answer = std::move(answer)](PasswordCheck::Verdict verdict) {
    answer(admission(verdict));
  });
}

}  // namespace rdma_exporter::net
