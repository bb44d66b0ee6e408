// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/password_check.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "log/log.h"

namespace rdma_exporter::net {

PasswordCheck::PasswordCheck(Submit submit, Verify verify)
    : submit_(std::move(submit)), verify_(std::move(verify)) {}

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

std::size_t PasswordCheck::waiting_of(const std::string& client) const {
  return static_cast<std::size_t>(std::count_if(
      waiting_.begin(), waiting_.end(), [&](const auto& entry) { return entry.second.client == client; }));
}

void PasswordCheck::check(const Credentials& credentials, const std::string& client, Answer answer) {
  if (users_.empty()) return answer(Verdict::wrong);
  const Digest name = keyed_hash_({credentials.user});
  const bool exists = users_.contains(name);
  const std::string hash = hash_for(name);
  const Digest key = keyed_hash_({credentials.user, hash, credentials.password, exists ? "1" : "0"});
  if (right_.contains(key)) return answer(Verdict::right);
  if (wrong_.contains(key)) return answer(Verdict::wrong);

  if (const auto same = waiting_.find(key); same != waiting_.end())
    return same->second.answers.push_back(std::move(answer));
  if (waiting_.size() >= kMostWaiting || waiting_of(client) >= kMostWaitingOfOneClient)
    return answer(Verdict::queue_full);

  auto job = [verify = verify_, password = credentials.password, hash, exists, key,
              weak = weak_from_this()]() -> Worker::Finish {
    bool right = false;
    try {
      right = verify(password, hash) && exists;
    } catch (const std::exception& error) {
      log::error("a password could not be checked", {{"error", error.what()}});
    }
    return [weak, key, right] {
      if (const auto self = weak.lock()) self->checked(key, right);
    };
  };
  // Before submit(), which may be done with it at once.
  waiting_.emplace(key, Waiting{client, {}}).first->second.answers.push_back(answer);
  if (submit_(std::move(job))) return;
  waiting_.erase(key);
  answer(Verdict::queue_full);
}

void PasswordCheck::checked(const Digest& key, bool right) {
  auto waiting = waiting_.extract(key);
  (right ? right_ : wrong_).add(key);
  if (waiting.empty()) return;
  for (const Answer& answer : waiting.mapped().answers) answer(right ? Verdict::right : Verdict::wrong);
}

}  // namespace rdma_exporter::net
