// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "task/loop_tasks.h"
#include "web/auth/credentials.h"
#include "web/auth/password_queue.h"
#include "web/auth/recent_map.h"

namespace rdma_exporter::web {

/// Checks names and passwords against bcrypt hashes. Io thread only; the hashing itself runs one at a time
/// where `submit` executes it.
///
/// Results are remembered, right or wrong, so that a client that comes every few seconds costs one hash and
/// then never waits. Right and wrong passwords are remembered separately, so that guesses push out only
/// guesses. A name that does not exist is checked against the hash of an existing one, always the same, so
/// that both take the same time. PasswordQueue decides whose turn is next and who is turned away; as many
/// wait as can be checked within kMaxWait.
class PasswordCheck : public std::enable_shared_from_this<PasswordCheck> {
 public:
  using Verdict = PasswordVerdict;
  using Answer = PasswordAnswer;
  using Clock = std::chrono::steady_clock;
  using Submit = std::function<bool(task::LoopTasks::Job)>;
  using Verify = std::function<bool(const std::string& password, const std::string& hash)>;
  using Now = std::function<Clock::time_point()>;

  static constexpr std::size_t kMaxWaiting = 64;  ///< requests
  static constexpr std::chrono::seconds kMaxWait{5};
  static constexpr std::size_t kRightOnes = 256;  ///< that are remembered
  static constexpr std::size_t kWrongOnes = 4096;

  /// `max_waiting` is the number of requests that may wait in addition to those for the password being
  /// checked.
  PasswordCheck(Submit submit, Verify verify, std::size_t max_waiting = kMaxWaiting, Now now = Clock::now);

  /// Name -> hash. Remembered results stay valid, because they are stored with the hash.
  void set_users(const std::map<std::string, std::string>& users);

  /// Calls `answer` exactly once, now or later, or never if this object is destroyed first. `client` is its
  /// address.
  void check(const Credentials& credentials, const std::string& client, Answer answer);

 private:
  const std::string& hash_for(const Digest& name) const;
  void trim();
  std::size_t max_waiting() const;
  void start_next();
  bool submit_running() noexcept;
  void checked(std::optional<bool> right);

  Submit submit_;
  Verify verify_;
  const std::size_t max_waiting_;
  Now now_;
  KeyedHash keyed_hash_;
  std::map<Digest, std::string> users_;
  RecentSet right_{kRightOnes};
  RecentSet wrong_{kWrongOnes};
  PasswordQueue queue_;
  std::optional<PendingPassword> running_;  ///< its hash is being computed
  Clock::time_point begun_;
  Clock::duration cost_{};  ///< of the last hash
};

}  // namespace rdma_exporter::web
