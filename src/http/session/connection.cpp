// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/connection.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace rdma_exporter::http {
namespace {

ConnectionList& list(Peer& peer, ConnectionState state) { return peer.lists[static_cast<unsigned>(state)]; }

std::size_t waiting(const Peer& peer) {
  return peer.lists[static_cast<unsigned>(ConnectionState::fresh)].size() +
         peer.lists[static_cast<unsigned>(ConnectionState::idle)].size();
}

std::size_t sent_to(Peer& peer) {
  const ConnectionList& busy = list(peer, ConnectionState::busy);
  return std::accumulate(busy.begin(), busy.end(), std::size_t{0},
                         [](std::size_t sum, const Connection* one) { return sum + one->sending(); });
}

}  // namespace

bool Rank::operator<(const Rank& other) const {
  return std::tie(other.waiting, only_idle, since, peer) <
         std::tie(waiting, other.only_idle, other.since, other.peer);
}

Peer& Connections::peer_of(const std::string& address) {
  const auto [known, added] = peers_.try_emplace(address);
  Peer& peer = known->second;
  if (!added) return peer;
  try {
    peer.address = address;
    peer.rank = ranking_.insert(Rank{.peer = &peer}).first;
  } catch (...) {
    peers_.erase(known);
    throw;
  }
  return peer;
}

// Finds no memory lacking: a place in the ranking is kept as long as the address.
void Connections::rank(Peer& peer) {
  const ConnectionList& fresh = list(peer, ConnectionState::fresh);
  const ConnectionList& idle = list(peer, ConnectionState::idle);
  auto place = ranking_.extract(peer.rank);
  Rank& rank = place.value();
  rank.waiting = waiting(peer);
  rank.only_idle = fresh.empty();
  rank.since = rank.waiting == 0 ? 0 : (fresh.empty() ? idle : fresh).front()->since_;
  peer.rank = ranking_.insert(std::move(place)).position;
}

void Connections::add(Connection& connection, const std::string& address) {
  Peer& peer = peer_of(address);
  ConnectionList& fresh = list(peer, ConnectionState::fresh);
  connection.place_ = fresh.insert(fresh.end(), &connection);
  connection.peer_ = &peer;
  connection.connection_state_ = ConnectionState::fresh;
  connection.since_ = ++moves_;
  ++size_;
  rank(peer);
}

void Connections::remove(Connection& connection) {
  Peer& peer = *connection.peer_;
  list(peer, connection.connection_state_).erase(connection.place_);
  --size_;
  if (std::any_of(peer.lists.begin(), peer.lists.end(), [](const auto& list) { return !list.empty(); }))
    return rank(peer);
  ranking_.erase(peer.rank);
  peers_.erase(peers_.find(peer.address));
}

void Connections::move(Connection& connection, ConnectionState state) {
  Peer& peer = *connection.peer_;
  ConnectionList& to = list(peer, state);
  to.splice(to.end(), list(peer, connection.connection_state_), connection.place_);
  connection.connection_state_ = state;
  connection.since_ = ++moves_;
  rank(peer);
}

bool Connections::evict_one() {
  if (ranking_.empty() || ranking_.begin()->waiting == 0) return false;
  Peer& peer = *ranking_.begin()->peer;
  ConnectionList& fresh = list(peer, ConnectionState::fresh);
  (fresh.empty() ? list(peer, ConnectionState::idle) : fresh).front()->close();
  return true;
}

// Rare, and so without accounts of its own: only while pages leave no room for another one.
bool Connections::free_pages(const Connection& asker, std::size_t bytes) {
  for (std::size_t freed = 0; freed < bytes;) {
    const auto less = [](auto& a, auto& b) { return sent_to(a.second) < sent_to(b.second); };
    Peer& heaviest = std::max_element(peers_.begin(), peers_.end(), less)->second;
    if (sent_to(heaviest) <= sent_to(*asker.peer_)) return false;
    ConnectionList& busy = list(heaviest, ConnectionState::busy);
    Connection& slowest =
        **std::find_if(busy.begin(), busy.end(), [](auto* one) { return one->sending() > 0; });
    freed += slowest.sending();
    slowest.give_up_page();
  }
  return true;
}

std::vector<Connection*> Connections::all() const {
  std::vector<Connection*> all;
  for (const auto& [address, peer] : peers_)
    for (const ConnectionList& list : peer.lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Both walk a copy: a connection that closes takes itself out of its list.
void Connections::stop_all() {
  for (Connection* connection : all()) connection->stop();
}

void Connections::close_all() {
  for (Connection* connection : all()) connection->close();
}

bool LogThrottle::should_log() {
  const auto now = std::chrono::steady_clock::now();
  if (last_.time_since_epoch().count() != 0 && now - last_ < std::chrono::minutes(1)) return false;
  last_ = now;
  return true;
}

}  // namespace rdma_exporter::http
