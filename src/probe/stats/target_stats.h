// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/histogram.h"
#include "probe/channel/frame.h"
#include "probe/session/observer.h"
#include "probe/session/operation.h"
#include "probe/session/session.h"

namespace rdma_exporter::probe {

/// Bounds of the classic buckets of round trips in seconds. They double from 1 to 128 us, where congestion
/// shows; above, they separate adaptive retransmissions of an adapter (2 to 16 ms) from those after an ACK
/// timeout (67 ms). Native histograms are finer.
inline constexpr std::array<double, 13> kRttBounds{1e-6,      2e-6,      4e-6,    8e-6,    1.6e-5,
                                                   3.2e-5,    6.4e-5,    1.28e-4, 5.12e-4, 2.048e-3,
                                                   1.6384e-2, 6.5536e-2, 1.048576};

inline constexpr std::size_t kOps = 3;  ///< number of values of Op

/// Names of Session::State, in its order.
inline constexpr std::array<std::string_view, 4> kStates{"idle", "connecting", "up", "backoff"};

/// The lowest value of the last five minutes, to half a minute.
class RecentMinimum {
 public:
  void add(std::chrono::nanoseconds value, Clock::time_point now);
  std::optional<std::chrono::nanoseconds> get(Clock::time_point now) const;

 private:
  static constexpr std::chrono::seconds kSlot{30};
  static constexpr std::int64_t kSlots = 10;
  struct Slot {
    std::int64_t number = -1;
    std::chrono::nanoseconds least{};
  };
  std::array<Slot, kSlots> slots_{};
};

/// Results of one operation.
struct OpStats {
  std::uint64_t attempts = 0;
  std::uint64_t overruns = 0;
  std::uint64_t successes = 0;
  std::uint64_t retransmits = 0;  ///< suspected
  std::map<std::pair<Stage, std::string_view>, std::uint64_t> failures{};
  std::chrono::nanoseconds last{};
  std::chrono::nanoseconds usual{};  ///< running median
  std::chrono::nanoseconds mean{};   ///< moving average, without suspected retransmissions
  double last_success = 0;           ///< seconds since 1970
  RecentMinimum least{};
};

/// Facts about the current connection.
struct SessionFacts {
  unsigned path_mtu = 0;  ///< bytes; 0: iWARP, which has none
  std::uint16_t udp_source_port = 0;
  std::string local_address;
  std::string peer_address;
  std::string peer_device;
  Op op = Op::echo;
  Transport transport = Transport::verbs;
  RttClock clock = RttClock::host;  ///< of `op`
  bool operator==(const SessionFacts&) const = default;
};

/// Everything that is known about one flow from a local port to a target. Thread-safe: filled by the device's
/// loop, read by scrapes, which never wait for more than a few additions.
class TargetStats final : public Recorder {
 public:
  /// Where latencies are counted; shared by targets that are aggregated.
  struct Histograms {
    std::array<std::shared_ptr<core::Histogram>, kOps> rtt{};
    std::shared_ptr<core::Histogram> responder_delay{};
    std::array<std::shared_ptr<core::Histogram>, kConnectSteps.size()> connect{};
    std::shared_ptr<core::Histogram> nic_read{};  ///< of reads by the adapter's clock; rtt has the others
    std::shared_ptr<core::Histogram> cold{};      ///< of operations ahead of recorded ones
  };

  /// `observer` may be null.
  explicit TargetStats(Path path = {}, std::shared_ptr<Observer> observer = {});

  void attempt(Op op) override;
  void success(Op op, const Completion& completion) override;
  void failure(Op op, const Failure& failure) override;
  void overrun(Op op) override;
  void warmed_up(Op op, const Completion& completion) override;
  void unsent(Op op, const Failure& why) override;
  void interrupted(const Failure& why) override;
  void only_echoes() override;

  void use(Histograms histograms);
  /// What is counted here is also counted in `sum`, which must not itself be added to anything. Call before
  /// the first count.
  void add_to(std::shared_ptr<TargetStats> sum) { sum_ = std::move(sum); }
  /// The session's state has changed; `facts` describe its connection while it is up.
  void set_session(Session::State state, std::optional<SessionFacts> facts);
  void forget_session();
  void count_connect();
  void connected(const ConnectTimes& times);

  struct Snapshot {
    std::array<OpStats, kOps> ops{};
    std::optional<Session::State> state{};
    std::optional<bool> up{};  ///< whether the last operation in use worked
    std::map<std::pair<Stage, std::string_view>, std::uint64_t> control_failures{};
    std::optional<Failure> last_failure{};  ///< of the path or of the control connection
    std::uint64_t connects = 0;
    std::uint64_t spun = 0;               ///< samples seen while spinning
    std::uint64_t slept = 0;              ///< seen after a sleep
    std::uint64_t preempted = 0;          ///< while this host's thread was preempted
    std::optional<SessionFacts> facts{};  ///< while it is up
    Histograms histograms{};
  };
  Snapshot snapshot() const;

 private:
  OpStats& of(Op op) { return data_.ops[static_cast<std::size_t>(op)]; }
  void tally(Op op, const Completion& completion, bool retransmitted);
  void tally_warm_up(Op op);
  void count(Op op, const Completion& completion);
  void count_sample(const Completion& completion);
  void came_to(Op op, bool worked);
  bool only_echoes_ = false;
  bool one_sided_ = false;  // whether there is such an operation

  const Path path_;
  const std::shared_ptr<Observer> observer_;
  std::shared_ptr<TargetStats> sum_;
  mutable std::mutex mutex_;
  Snapshot data_;
};

}  // namespace rdma_exporter::probe
