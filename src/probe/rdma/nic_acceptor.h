// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "probe/channel/responder.h"
#include "probe/mesh/own_network.h"
#include "probe/rdma/nic.h"

namespace rdma_exporter::probe {

/// The responder's ends on this host's devices. Thread-safe. Workers do the work; requests of connection
/// managers are awaited on `io`.
class NicAcceptor final : public Acceptor {
 public:
  /// `default_route` returns the index of the network interface of the default route; 0: none.
  NicAcceptor(Workers& workers, asio::io_context& io,
              std::function<std::uint32_t()> default_route = default_route_netdev)
      : workers_(workers), io_(io), default_route_(std::move(default_route)) {}

  void accept(const Connect& wish, const ControlAddresses& control, Done done) override;
  /// Sets the devices that peers may use from now on, and their rails.
  void use(std::vector<std::shared_ptr<Nic>> nics, std::map<std::string, Rail> rails);

 private:
  Workers& workers_;
  asio::io_context& io_;
  const Workers::Owner owner_ = Workers::new_owner();
  const std::function<std::uint32_t()> default_route_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Nic>> nics_;
  std::map<std::string, Rail> rails_;  ///< by the name of the device
};

}  // namespace rdma_exporter::probe
