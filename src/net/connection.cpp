// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/connection.h"

#include <vector>

namespace rdma_exporter::net {

// Both walk a copy: a connection that closes takes itself out of the set.
void Connections::stop_all() {
  const std::vector<Connection*> all(open_.begin(), open_.end());
  for (Connection* connection : all) connection->stop();
}

void Connections::close_all() {
  const std::vector<Connection*> all(open_.begin(), open_.end());
  for (Connection* connection : all) connection->close();
}

}  // namespace rdma_exporter::net
