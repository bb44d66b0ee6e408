// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "probe/agent/workers.h"
#include "probe/rdma/connection/connect_steps.h"
#include "probe/rdma/connection/rc_end.h"
#include "probe/rdma/device_loop.h"
#include "probe/session/session.h"

namespace rdma_exporter::probe {

/// A connection that is ready for work.
struct Connection {
  std::shared_ptr<RcEnd> end;
  PathEnd peer{};
  std::string peer_device{};
  std::uint32_t flow_label = 0;
  ConnectTimes times{};
  std::shared_ptr<void> lease;  ///< gives the peer's end back when it goes
};

struct ConnectError {
  Failure failure;
  std::chrono::seconds cap = Backoff::kCap;  ///< of the pause before the next attempt
};

/// Brings a connection about. Thread-safe.
class Connector {
 public:
  using Done = std::function<void(tl::expected<Connection, ConnectError>)>;
  virtual ~Connector() = default;
  /// `done` is called once, on any thread, in bounded time. `lost` is called on any thread when the lease
  /// ends.
  virtual void connect(std::optional<Op> one_sided, Done done, std::function<void(Failure)> lost) = 0;
  /// Nobody wants the answer any more: `done` need not be called.
  virtual void cancel() {}
};

/// A session's queue pairs on a device: posts, measures, and tells the session. Lives on the device's loop.
class RcEndpoint final : public Endpoint, public DeviceLoop::Handler {
 public:
  RcEndpoint(DeviceLoop& loop, Workers& workers, Connector& connector);
  ~RcEndpoint() override;
  /// Before anything else: the session that this is the endpoint of.
  void serve(Session& session) { session_ = &session; }

  void connect(std::optional<Op> one_sided) override;
  int post(Op op) override;
  bool paired(Op op) const override;
  void close() override;

  void completion(std::uint8_t kind, const WorkCompletion& completion, Clock::time_point seen,
                  Clock::time_point sleep) override;

  /// The connection in use; empty while there is none.
  const Connection& connection() const { return connection_; }

 private:
  struct Flight {
    Clock::time_point posted;
    std::chrono::nanoseconds usual{};  ///< moving average of the time until its completion is seen
    std::uint64_t first_end = 0;       ///< of a pair, by the adapter's clock
  };
  struct Alive {
    RcEndpoint* endpoint;
  };

  using Answer = tl::expected<Connection, ConnectError>;
  /// False: it came too late, and is left in `answer`.
  bool answered(std::uint64_t attempt, Answer& answer);
  void received(unsigned slot, const WorkCompletion& completion, Clock::time_point seen,
                Clock::time_point sleep);
  Completion measure(Op op, Clock::time_point seen, Clock::time_point sleep);
  void pair_completed(std::uint64_t second_end, Clock::time_point seen, Clock::time_point sleep);
  Flight& flight(Op op) { return op == Op::echo ? echo_ : one_sided_; }

  DeviceLoop& loop_;
  Workers& workers_;
  Connector& connector_;
  Session* session_ = nullptr;
  std::shared_ptr<Alive>
      alive_;                  // what is still under way when this goes finds out by it, on the loop's thread
  std::uint64_t attempt_ = 0;  // answers to earlier attempts come too late
  Connection connection_;
  Flight one_sided_;
  Flight echo_;
  std::uint32_t echo_number_ = 0;
};

}  // namespace rdma_exporter::probe
