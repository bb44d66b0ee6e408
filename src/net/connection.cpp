// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/connection.h"

namespace rdma_exporter::net {

void Connections::add(Connection& connection) {
  connection.standing_ = Standing::fresh;
  ConnectionList& fresh = list(Standing::fresh);
  connection.place_ = fresh.insert(fresh.end(), &connection);
}

void Connections::remove(Connection& connection) { list(connection.standing_).erase(connection.place_); }

void Connections::move(Connection& connection, Standing standing) {
  ConnectionList& to = list(standing);
  to.splice(to.end(), list(connection.standing_), connection.place_);
  connection.standing_ = standing;
}

std::size_t Connections::size() const { return lists_[0].size() + lists_[1].size() + lists_[2].size(); }

bool Connections::displace_one() {
  for (const Standing standing : {Standing::fresh, Standing::idle}) {
    if (list(standing).empty()) continue;
    list(standing).front()->close();
    return true;
  }
  return false;
}

std::vector<Connection*> Connections::all() const {
  std::vector<Connection*> all;
  for (const ConnectionList& list : lists_) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Both walk a copy: a connection that closes takes itself out of its list.
void Connections::stop_all() {
  for (Connection* connection : all()) connection->stop();
}

void Connections::close_all() {
  for (Connection* connection : all()) connection->close();
}

bool LogPause::over() {
  const auto now = std::chrono::steady_clock::now();
  if (last_.time_since_epoch().count() != 0 && now - last_ < std::chrono::minutes(1)) return false;
  last_ = now;
  return true;
}

}  // namespace rdma_exporter::net
