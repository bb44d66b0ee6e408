// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "probe/channel/channel.h"
#include "probe/rdma/connection/qp_pair.h"
#include "probe/rdma/connection/rc_endpoint.h"

namespace rdma_exporter::probe {

/// Creates this host's ends of connections. Both calls return at once; `done` is called once, on any thread.
class QpPairs {
 public:
  virtual ~QpPairs() = default;
  virtual void make(QpPairRequest request, std::function<void(SetUp<std::shared_ptr<QpPair>>)> done) = 0;
  virtual void connect(std::shared_ptr<QpPair> pair, const Accept& accept, const PathSettings& path,
                       std::function<void(SetUp<void>)> done) = 0;
  /// Gives it back, without blocking the caller.
  virtual void dispose(std::shared_ptr<QpPair> pair) = 0;
};

struct DialerOptions {
  std::string address;  ///< name or address of the peer
  std::uint16_t port = 9401;
  std::string device;         ///< the peer's device; empty: it chooses
  std::string rail;           ///< own device
  std::optional<Rail> place;  ///< its place among this host's rails
  std::string cluster;
  std::string host;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: unencrypted
  QpPairRequest pair{};                     ///< of which port and address, and whether with echoes
  PathSettings path{};  ///< class and timing that both ends use; what depends on addresses is filled in
  unsigned flow = 0;    ///< determines the flow label, together with both addresses
  std::chrono::milliseconds message_time{2'000};
  std::chrono::milliseconds ping_every{10'000};
  /// After this time an interrupted lease is given up, shortly before the peer releases its end.
  std::chrono::milliseconds suspended_at_most{14 * 60'000};
  std::chrono::milliseconds least_pause{500};  ///< before the first attempt to resume a lease
};

/// The client of the control connection: establishes the connections to one target, and resumes their leases
/// when the control connection breaks while the peer lives, which does not affect queue pairs. connect() may
/// be called on any thread; everything else runs on the thread of `io`.
class Dialer final : public Connector {
 public:
  Dialer(asio::io_context& io, DialerOptions options, std::shared_ptr<QpPairs> near);
  /// Call this from one thread.
  void connect(std::optional<Op> one_sided, Done done, Lease lease) override;
  void cancel() override;

 private:
  class Call;
  asio::io_context& io_;
  std::shared_ptr<const DialerOptions> options_;
  std::shared_ptr<QpPairs> near_;
  std::weak_ptr<Call> call_;
};

}  // namespace rdma_exporter::probe
