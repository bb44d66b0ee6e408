// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "probe/agent/options.h"
#include "probe/channel/dialer.h"
#include "probe/rdma/connection/rc_endpoint.h"
#include "probe/session/schedule.h"
#include "probe/session/session.h"
#include "probe/stats/target_stats.h"
#include "task/token_bucket.h"

namespace rdma_exporter::probe {

/// Identifies a prober: one flow from one local port to one target.
struct ProberKey {
  std::uint8_t port = 1;
  Target target;
  unsigned flow = 0;
  bool operator==(const ProberKey&) const = default;
  auto operator<=>(const ProberKey&) const = default;
};

/// Parameters of a prober.
struct ProberSpec {
  ProberKey key;
  std::string device;         ///< own
  std::optional<Rail> place;  ///< its place
  SessionOptions options;
  std::shared_ptr<asio::ssl::context> tls;
  std::shared_ptr<TargetStats> stats;
};

/// A session with everything it needs: connection, schedule, statistics. Lives on its device's loop.
class Prober {
 public:
  /// `random` must outlive it. `changed`: the last result of advance() is no longer valid.
  Prober(DeviceLoop& loop, Workers& workers, asio::io_context& io, std::shared_ptr<QpPairs> near,
         ProberSpec spec, const Random& random, std::function<void()> changed);
  ~Prober();

  /// Does one thing that is due. `stretch`: factor of the periods. Returns when there is more to do, which
  /// may be now.
  std::optional<Clock::time_point> advance(Clock::time_point now, double stretch,
                                           task::TokenBucket& connects);
  void on_event(const DeviceEvent& event, Clock::time_point now);

  /// Maximum number of probes per second.
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
