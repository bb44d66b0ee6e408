// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "probe/agent/options.h"
#include "probe/channel/dialer.h"
#include "probe/rdma/connection/rc_endpoint.h"
#include "probe/session/schedule.h"
#include "probe/session/session.h"
#include "probe/stats/target_stats.h"

namespace rdma_exporter::probe {

/// Which probe: one flow from one own port to one target.
struct ProberKey {
  std::uint8_t port = 1;
  Target target;
  unsigned flow = 0;
  bool operator==(const ProberKey&) const = default;
  auto operator<=>(const ProberKey&) const = default;
};

/// What it is made of.
struct ProberSpec {
  ProberKey key;
  std::string device;  ///< own
  SessionOptions options;
  std::shared_ptr<asio::ssl::context> tls;
  std::shared_ptr<TargetStats> stats;
};

/// A session with all that it needs: connection, schedule, statistics. Lives on its device's loop.
class Prober {
 public:
  /// `random` outlives it.
  Prober(DeviceLoop& loop, Workers& workers, asio::io_context& io, std::shared_ptr<NearEnds> near,
         ProberSpec spec, const Random& random);
  ~Prober();

  /// Does what is due. `stretch`: of the periods. Returns when there is something to do next.
  std::optional<Clock::time_point> advance(Clock::time_point now, double stretch, TokenBucket& connects);
  void on_event(const DeviceEvent& event, Clock::time_point now);

  /// Probes a second that this makes at most.
  static double rate(const SessionOptions& options);

 private:
  void publish();
  SessionFacts facts() const;

  const ProberSpec spec_;
  const Random& random_;
  Dialer dialer_;
  RcEndpoint endpoint_;
  Session session_;
  std::optional<Ticker> one_sided_;
  std::optional<Ticker> echo_;
  std::optional<Session::State> published_;
};

}  // namespace rdma_exporter::probe
