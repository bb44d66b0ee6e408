// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/policy/security.h"

#include <algorithm>
#include <utility>

#include "task/loop_tasks.h"
#include "web/auth/credentials.h"
#include "web/auth/gate.h"
#include "web/policy/web_config_file.h"

namespace rdma_exporter::web {

Security::Security(asio::io_context& io, const std::string& file, unsigned connections,
                   http::HttpCounters& counters) {
  if (file.empty()) return;
  password_tasks_ = std::make_unique<task::LoopTasks>(io, 1, 1);
  const auto submit = [this](task::LoopTasks::Job job) { return password_tasks_->submit(std::move(job)); };
  const std::size_t most = std::clamp<std::size_t>(connections / 2, 1, PasswordCheck::kMaxWaiting);
  gate_ = std::make_shared<Gate>(std::make_shared<PasswordCheck>(submit, bcrypt_matches, most));
  file_ = std::make_shared<WebConfigFile>(io, file, *gate_, counters);
}

Security::~Security() { stop(); }

core::Result<void> Security::load() {
  if (!file_) return {};
  return file_->load();
}

void Security::watch() {
  if (file_) file_->start();
}

void Security::stop() {
  if (file_) file_->stop();
}

void Security::prepare(const std::function<void(const core::Result<std::function<void()>>&)>& answer) {
  if (!file_) return answer([] {});
  file_->prepare(answer);
}

std::shared_ptr<http::AccessControl> Security::access() const { return gate_; }

bool Security::has_tls() const { return gate_ && gate_->policy().tls; }

bool Security::has_passwords() const { return gate_ && !gate_->policy().users.empty(); }

}  // namespace rdma_exporter::web
