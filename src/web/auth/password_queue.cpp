// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/password_queue.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace rdma_exporter::web {

void PasswordQueue::note(const PendingPassword& pending) {
  ++said_[pending.key];
  Client& client = clients_[pending.client];
  if (client.different != 0 && client.last == pending.key) return;
  client.last = pending.key;
  ++client.different;
}

void PasswordQueue::add(PendingPassword pending) {
  note(pending);
  const auto same = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Entry& entry) { return entry.pending.key == pending.key; });
  if (same == waiting_.end()) return waiting_.push_back({std::move(pending), ++arrivals_});
  auto& answers = same->pending.answers;
  answers.insert(answers.end(), pending.answers.begin(), pending.answers.end());
}

bool PasswordQueue::has(const Digest& key) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [&](const Entry& entry) { return entry.pending.key == key; });
}

bool PasswordQueue::before(const Entry& a, const Entry& b) const {
  const auto different = [this](const Entry& entry) {
    const Client* const client = clients_.find(entry.pending.client);
    return client == nullptr ? 0 : client->different;
  };
  const auto said = [this](const Entry& entry) {
    const unsigned* const times = said_.find(entry.pending.key);
    return times == nullptr ? 0 : *times;
  };
  return std::tuple(different(a), said(b), a.arrival) < std::tuple(different(b), said(a), b.arrival);
}

std::optional<PendingPassword> PasswordQueue::take(Entries::iterator entry) {
  if (entry == waiting_.end()) return std::nullopt;
  PendingPassword taken = std::move(entry->pending);
  waiting_.erase(entry);
  return taken;
}

std::optional<PendingPassword> PasswordQueue::take_next() {
  return take(std::min_element(waiting_.begin(), waiting_.end(),
                               [this](const Entry& a, const Entry& b) { return before(a, b); }));
}

std::optional<PendingPassword> PasswordQueue::take_last() {
  return take(std::max_element(waiting_.begin(), waiting_.end(),
                               [this](const Entry& a, const Entry& b) { return before(a, b); }));
}

std::size_t PasswordQueue::size() const {
  return std::accumulate(
      waiting_.begin(), waiting_.end(), std::size_t{0},
      [](std::size_t sum, const Entry& entry) { return sum + entry.pending.answers.size(); });
}

}  // namespace rdma_exporter::web
