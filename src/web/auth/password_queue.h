// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "web/auth/keyed_hash.h"
#include "web/auth/recent_map.h"

namespace rdma_exporter::web {

enum class PasswordVerdict : unsigned char { right, wrong, queue_full };
using PasswordAnswer = std::function<void(PasswordVerdict)>;

/// A password whose hash is to be computed, and who waits for that.
struct PendingPassword {
  Digest key{};  ///< of everything that decides whether it is right
  std::string client;
  std::string password;
  std::string hash;
  bool exists = false;  ///< the user
  std::vector<PasswordAnswer> answers = {};
};

/// Passwords that wait to be checked. What sets apart somebody who knows a password, before any is checked,
/// is that he says the same one again; whoever guesses says another one each time. So the next one is of the
/// address that has said the fewest different ones, of those the one that was said most often, and of those
/// the one that came first. Where there are too many the last in this order goes. One thread.
class PasswordQueue {
 public:
  /// How many are remembered, so that a flood makes nobody else be forgotten at once.
  static constexpr std::size_t kPasswords = 16384;
  static constexpr std::size_t kClients = 4096;

  /// Joins those who wait for the same password, or begins to wait.
  void add(PendingPassword pending);
  /// The next one; nothing when none waits.
  std::optional<PendingPassword> take_next();
  /// The last one.
  std::optional<PendingPassword> take_last();

  /// `client` was right: what it has said before was no guessing.
  void clear(const std::string& client) { clients_.forget(client); }
  /// A guess, which does not become better by repeating it.
  void count_wrong(const std::string& client) { ++clients_[client].different; }

  bool has(const Digest& key) const;
  /// Those who wait.
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
