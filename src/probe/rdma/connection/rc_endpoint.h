// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "probe/agent/workers.h"
#include "probe/rdma/connection/qp_pair.h"
#include "probe/rdma/connection/spin_window.h"
#include "probe/rdma/device_loop.h"
#include "probe/session/operation.h"
#include "probe/session/session.h"

namespace rdma_exporter::probe {

/// An established connection.
struct Connection {
  std::shared_ptr<QpPair> pair;
  QpPairAddress peer{};
  std::string peer_device{};
  std::uint32_t flow_label = 0;
  ConnectTimes times{};
  std::shared_ptr<void> lease;  ///< releases the peer's end when it is destroyed
};

struct ConnectError {
  Failure failure;
  std::chrono::seconds cap = JitteredBackoff::kCap;  ///< of the pause before the next attempt
};

/// Establishes connections. Thread-safe.
class Connector {
 public:
  using Done = std::function<void(tl::expected<Connection, ConnectError>)>;
  virtual ~Connector() = default;
  /// Its functions are called on any thread.
  struct Lease {
    std::function<void(Failure)> interrupted;  ///< meanwhile the peer holds its end
    std::function<void(Failure)> lost;         ///< the peer's end is gone or will be
  };
  /// `done` is called once, on any thread, in bounded time.
  virtual void connect(std::optional<Op> one_sided, Done done, Lease lease) = 0;
  /// The answer is no longer needed: `done` need not be called.
  virtual void cancel() {}
};

/// A session's queue pairs on a device: posts operations, measures them, and reports to the session. Lives on
/// the device's loop.
class RcEndpoint final : public Endpoint, public DeviceLoop::Handler {
 public:
  RcEndpoint(DeviceLoop& loop, Workers& workers, Connector& connector);
  ~RcEndpoint() override;
  /// Call this first: the session that the endpoint belongs to. `changed` is called after the session has
  /// been informed of something, because its next step may have changed.
  void serve(Session& session, std::function<void()> changed = {}) {
    session_ = &session;
    changed_ = std::move(changed);
  }

  void connect(std::optional<Op> one_sided) override;
  int post(Op op) override;
  bool paired(Op op) const override;
  void close() override;

  void completion(std::uint8_t kind, const WorkCompletion& completion, const DeviceLoop::Seen& seen) override;

  /// The current connection; empty if there is none.
  const Connection& connection() const { return connection_; }

 private:
  struct Flight {
    Clock::time_point posted;
    SpinWindow window{};
    std::uint64_t first_end = 0;  ///< of a pair, by the adapter's clock
  };
  struct Alive {
    RcEndpoint* endpoint;
  };

  using Answer = tl::expected<Connection, ConnectError>;
  /// False if it came too late; it then stays in `answer`.
  bool answered(std::uint64_t attempt, Answer& answer);
  void handle(std::uint8_t kind, const WorkCompletion& completion, const DeviceLoop::Seen& seen);
  void received(unsigned slot, const WorkCompletion& completion, const DeviceLoop::Seen& seen);
  Completion measure(Op op, const DeviceLoop::Seen& seen);
  void pair_completed(std::uint64_t second_end, const DeviceLoop::Seen& seen);
  void told() {
    if (changed_) changed_();
  }
  /// Logs the adapter's details of an unusual failure, unless they are the same as before.
  void log_failure(const WorkCompletion& completion);
  Flight& flight(Op op) { return op == Op::echo ? echo_ : one_sided_; }

  DeviceLoop& loop_;
  Workers& workers_;
  Connector& connector_;
  Session* session_ = nullptr;
  std::function<void()> changed_;
  std::shared_ptr<Alive>
      alive_;           // lets pending operations detect, on the loop's thread, that this has been destroyed
  bool spins_ = false;  // whether the loop spins for an operation of this endpoint
  std::uint64_t attempt_ = 0;  // answers to earlier attempts are too late
  Connection connection_;
  Flight one_sided_;
  Flight echo_;
  std::uint32_t echo_number_ = 0;
  std::uint32_t echo_answered_ = 0;  // the last echo of this connection that was answered
  std::pair<int, std::uint32_t> logged_{};
};

}  // namespace rdma_exporter::probe
