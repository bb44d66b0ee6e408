// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/password_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "log/caught.h"

namespace rdma_exporter::web {
namespace {

void answer_all(const PendingPassword& pending, PasswordVerdict verdict) {
  for (const PasswordAnswer& answer : pending.answers) answer(verdict);
}

}  // namespace

PasswordCheck::PasswordCheck(Submit submit, Verify verify, std::size_t max_waiting, Now now)
    : submit_(std::move(submit)),
      verify_(std::move(verify)),
      max_waiting_(max_waiting),
      now_(std::move(now)) {}

void PasswordCheck::set_users(const std::map<std::string, std::string>& users) {
  users_.clear();
  for (const auto& [name, hash] : users) users_.emplace(keyed_hash_({name}), hash);
}

/// For a name that does not exist the hash of one that does, so that the costs of the hashes say nothing
/// either.
const std::string& PasswordCheck::hash_for(const Digest& name) const {
  if (const auto user = users_.find(name); user != users_.end()) return user->second;
  std::uint32_t number = 0;
  std::memcpy(&number, name.data(), sizeof number);
  return std::next(users_.begin(), static_cast<std::ptrdiff_t>(number % users_.size()))->second;
}

void PasswordCheck::check(const Credentials& credentials, const std::string& client, Answer answer) {
  if (users_.empty()) return answer(Verdict::wrong);
  const Digest name = keyed_hash_({credentials.user});
  const bool exists = users_.contains(name);
  const std::string& hash = hash_for(name);
  const Digest key = keyed_hash_({credentials.user, hash, credentials.password, exists ? "1" : "0"});
  if (right_.contains(key)) return answer(Verdict::right);
  if (wrong_.contains(key)) return answer(Verdict::wrong);
  // Many who say the same push out nobody else.
  if (running_ && running_->key == key) {
    if (running_->answers.size() > max_waiting_ / 2) return answer(Verdict::queue_full);
    return running_->answers.push_back(std::move(answer));
  }
  if (queue_.has(key) && queue_.size() >= max_waiting()) return answer(Verdict::queue_full);
  PendingPassword pending{key, client, credentials.password, hash, exists};
  pending.answers.push_back(std::move(answer));
  queue_.add(std::move(pending));
  trim();
  start_next();
}

// As many as are checked within kMaxWait, if hashes cost what the last one did.
std::size_t PasswordCheck::max_waiting() const {
  if (cost_ <= Clock::duration::zero()) return max_waiting_;
  const auto in_time = static_cast<std::size_t>(kMaxWait / cost_);
  return std::min(max_waiting_, std::max<std::size_t>(in_time, 1));
}

void PasswordCheck::trim() {
  while (queue_.size() > max_waiting()) answer_all(*queue_.take_last(), Verdict::queue_full);
}

void PasswordCheck::start_next() {
  while (!running_) {
    running_ = queue_.take_next();
    if (!running_ || submit_running()) return;
    answer_all(*std::exchange(running_, std::nullopt), Verdict::queue_full);
  }
}

// What tells the result is made before there is one: it must not find no memory then.
bool PasswordCheck::submit_running() noexcept try {
  auto right = std::make_shared<std::optional<bool>>();
  task::LoopTasks::Finish finish = [weak = weak_from_this(), right] {
    if (const auto self = weak.lock()) self->checked(*right);
  };
  begun_ = now_();
  return submit_([verify = verify_, password = running_->password, hash = running_->hash,
                  exists = running_->exists, right, finish = std::move(finish)]() mutable {
    try {
      *right = verify(password, hash) && exists;
    } catch (const std::exception& error) {
      log::caught("a password could not be checked", error);
    }
    return std::move(finish);
  });
} catch (const std::exception& error) {
  log::caught("a password could not be checked", error);
  return false;
}

void PasswordCheck::checked(std::optional<bool> right) {
  const PendingPassword done = *std::exchange(running_, std::nullopt);
  cost_ = now_() - begun_;
  if (right) (*right ? right_ : wrong_).add(done.key);
  if (right && *right) queue_.clear(done.client);
  if (right && !*right) queue_.count_wrong(done.client);
  answer_all(done, !right ? Verdict::queue_full : *right ? Verdict::right : Verdict::wrong);
  trim();
  start_next();
}

}  // namespace rdma_exporter::web
