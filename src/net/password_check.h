// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/basic_auth.h"
#include "net/keyed_hash.h"
#include "net/recent_set.h"
#include "net/worker.h"

namespace rdma_exporter::net {

/// Checks names and passwords against bcrypt hashes. Io thread only; the hashing itself runs where `submit`
/// takes it, one at a time.
///
/// What was checked once is remembered, right or wrong, so that a client that comes every few seconds costs
/// one hash. Right ones and wrong ones are remembered apart: whoever guesses pushes out guesses only. A name
/// that does not exist is checked against the hash of one that does, always the same, so that both take the
/// same time. Checks that wait are bounded in all and for each client, so that whoever guesses mostly waits
/// for himself.
class PasswordCheck : public std::enable_shared_from_this<PasswordCheck> {
 public:
  enum class Verdict : unsigned char { right, wrong, queue_full };
  using Answer = std::function<void(Verdict)>;
  using Submit = std::function<bool(Worker::Job)>;
  using Verify = std::function<bool(const std::string& password, const std::string& hash)>;

  static constexpr std::size_t kMostWaiting = 16;
  static constexpr std::size_t kMostWaitingOfOneClient = 2;
  static constexpr std::size_t kRemembered = 256;  ///< right ones, and as many wrong ones

  PasswordCheck(Submit submit, Verify verify);

  /// Name -> hash. What is remembered stays true: it is remembered together with the hash.
  void set_users(const std::map<std::string, std::string>& users);

  /// Calls `answer` exactly once, now or later, or never when this object goes first. `client`: its address.
  void check(const Credentials& credentials, const std::string& client, Answer answer);

 private:
  struct Waiting {
    std::string client;
    std::vector<Answer> answers;
  };

  const std::string& hash_for(const Digest& name) const;
  std::size_t waiting_of(const std::string& client) const;
  void checked(const Digest& key, bool right);

  Submit submit_;
  Verify verify_;
  KeyedHash keyed_hash_;
  std::map<Digest, std::string> users_;
  RecentSet right_{kRemembered};
  RecentSet wrong_{kRemembered};
  std::map<Digest, Waiting> waiting_;
};

}  // namespace rdma_exporter::net
