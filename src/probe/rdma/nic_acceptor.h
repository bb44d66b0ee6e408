// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "probe/channel/responder.h"
#include "probe/rdma/nic.h"

namespace rdma_exporter::probe {

/// The responder's ends on this host's devices. Thread-safe; the work is done on workers, and
/// waiting for the requests of connection managers on `io`.
class NicAcceptor final : public Acceptor {
 public:
  NicAcceptor(Workers& workers, asio::io_context& io) : workers_(workers), io_(io) {}

  void accept(const Connect& wish, const std::string& control_address, Done done) override;
  /// The devices that peers may use from now on.
  void use(std::vector<std::shared_ptr<Nic>> nics);

 private:
  std::vector<std::shared_ptr<Nic>> nics() const;

  Workers& workers_;
  asio::io_context& io_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Nic>> nics_;
};

}  // namespace rdma_exporter::probe
