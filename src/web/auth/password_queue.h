// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "web/auth/credentials.h"
#include "web/auth/recent_map.h"

namespace rdma_exporter::web {

enum class PasswordVerdict : unsigned char { right, wrong, queue_full };
using PasswordAnswer = std::function<void(PasswordVerdict)>;

/// A password whose hash is to be computed, and the requests that wait for it.
struct PendingPassword {
  Digest key{};  ///< of everything that decides whether it is right
  std::string client;
  std::string password;
  std::string hash;
  bool exists = false;  ///< the user
  std::vector<PasswordAnswer> answers = {};
};

/// Passwords that wait to be checked. Before any check, somebody who knows a password differs from a guesser
/// only by repeating the same one. The next password is therefore one of the address that has sent the fewest
/// different passwords; among those the one sent most often, and among those the one that came first. If
/// there are too many, the last in this order is dropped. Not thread-safe.
class PasswordQueue {
 public:
  /// How many are remembered, so that a flood does not push everybody else out at once.
  static constexpr std::size_t kPasswords = 16384;
  static constexpr std::size_t kClients = 4096;

  /// Joins the requests that wait for the same password, or starts waiting.
  void add(PendingPassword pending);
  /// The next password to check; nothing if none waits.
  std::optional<PendingPassword> take_next();
  /// Removes and returns the last one.
  std::optional<PendingPassword> take_last();

  /// `client` was right: what it has sent before was not guessing.
  void clear(const std::string& client) { clients_.forget(client); }
  /// Counts a guess, which repetition does not improve.
  void count_wrong(const std::string& client) { ++clients_[client].different; }

  bool has(const Digest& key) const;
  /// Number of waiting requests.
  std::size_t size() const;

 private:
  struct Client {
    Digest last{};
    unsigned different = 0;
  };
  struct Entry {
    PendingPassword pending;
    std::uint64_t arrival = 0;
  };
  using Entries = std::vector<Entry>;

  void note(const PendingPassword& pending);
  bool before(const Entry& a, const Entry& b) const;
  std::optional<PendingPassword> take(Entries::iterator entry);

  Entries waiting_;
  std::uint64_t arrivals_ = 0;
  RecentMap<Digest, unsigned> said_{kPasswords};
  RecentMap<std::string, Client> clients_{kClients};
};

}  // namespace rdma_exporter::web
