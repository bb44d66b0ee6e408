// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "probe/channel.h"
#include "probe/rc_end.h"
#include "probe/rc_endpoint.h"

namespace rdma_exporter::probe {

/// Makes this host's ends of connections. Both calls return at once; `done` is called once, on any thread.
class NearEnds {
 public:
  virtual ~NearEnds() = default;
  /// `control_address`: own address of the side channel.
  virtual void make(std::optional<Op> one_sided, const std::string& control_address,
                    std::function<void(SetUp<std::shared_ptr<RcEnd>>)> done) = 0;
  virtual void connect(std::shared_ptr<RcEnd> end, const Accept& accept,
                       std::function<void(SetUp<void>)> done) = 0;
  /// Gives it back, without blocking the caller.
  virtual void dispose(std::shared_ptr<RcEnd> end) = 0;
};

struct DialerOptions {
  std::string address;  ///< name or address of the peer
  std::uint16_t port = 9401;
  std::string device;  ///< the peer's device; empty: it chooses
  std::string rail;    ///< own device
  std::string cluster;
  std::string host;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: in clear
  PathSettings path;  ///< class, label and timing that both ends use; port and GID are not
  std::chrono::milliseconds message_time{2'000};
  std::chrono::milliseconds ping_every{10'000};
};

/// The client of the side channel: brings one target's connections about. connect() on any thread; everything
/// else on the thread of `io`. `near` has to outlive what it has begun.
class Dialer final : public Connector {
 public:
  Dialer(asio::io_context& io, DialerOptions options, NearEnds& near);
  void connect(std::optional<Op> one_sided, Done done, std::function<void(Failure)> lost) override;

 private:
  class Call;
  asio::io_context& io_;
  std::shared_ptr<const DialerOptions> options_;
  NearEnds& near_;
};

}  // namespace rdma_exporter::probe
