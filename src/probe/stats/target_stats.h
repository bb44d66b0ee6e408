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
#include <utility>
#include <vector>

#include "core/histogram.h"
#include "probe/channel/frame.h"
#include "probe/rdma/connection/connect_steps.h"
#include "probe/session/observer.h"
#include "probe/session/session.h"

namespace rdma_exporter::probe {

/// Bounds of the round trip histograms, seconds. Steps of at most 1.5 where congestion lives, 1 to 128 us;
/// doubling from there, so that what was sent again after an ACK timeout (4.1, 16.8, 67 ms) or by an
/// adapter's adaptive retransmission (2, 4, 8, 16 ms) falls into buckets of its own.
inline constexpr std::array<double, 28> kRttBounds{
    5e-7,     7.5e-7,   1e-6,     1.5e-6,    2e-6,      3e-6,      4e-6,       6e-6,    8e-6,    1.2e-5,
    1.6e-5,   2.4e-5,   3.2e-5,   4.8e-5,    6.4e-5,    9.6e-5,    1.28e-4,    2.56e-4, 5.12e-4, 1.024e-3,
    2.048e-3, 4.096e-3, 8.192e-3, 1.6384e-2, 3.2768e-2, 6.5536e-2, 2.62144e-1, 1.048576};

inline constexpr std::size_t kOps = 3;  ///< values of Op

/// The least of the last five minutes, to half a minute.
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

/// What one operation has come to.
struct OpStats {
  std::uint64_t attempts = 0;
  std::uint64_t overruns = 0;
  std::uint64_t successes = 0;
  std::uint64_t retransmits = 0;  ///< suspected
  std::map<std::pair<Stage, std::string_view>, std::uint64_t> failures{};
  std::chrono::nanoseconds last{};
  std::chrono::nanoseconds usual{};  ///< running median
  std::chrono::nanoseconds mean{};   ///< moving, without what was suspected
  double last_success = 0;           ///< seconds since 1970
  bool last_worked = false;          ///< the last attempt that came to something
  RecentMinimum least{};
};

/// Facts of the connection in use.
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

/// Everything that is known of one target as one own port sees it, over all flows. Thread-safe: filled by
/// the device's loop, read by scrapes, which never wait for more than a few additions.
class TargetStats final : public Recorder {
 public:
  /// Where latencies go; shared by targets that are aggregated.
  struct Histograms {
    std::array<std::shared_ptr<core::Histogram>, kOps> rtt{};
    std::shared_ptr<core::Histogram> responder_delay{};
    std::array<std::shared_ptr<core::Histogram>, kConnectSteps.size()> connect{};
    std::shared_ptr<core::Histogram> nic_read{};  ///< of reads by the adapter's clock; rtt has the others
  };

  /// `observer` may be null.
  explicit TargetStats(Path path = {}, std::shared_ptr<Observer> observer = {});

  void attempt(Op op) override;
  void success(Op op, const Completion& completion) override;
  void failure(Op op, const Failure& failure) override;
  void overrun(Op op) override;
  void only_echoes() override;

  void use(Histograms histograms);
  /// What is counted here is counted there too; `sum` is never itself added to anything. Before the first
  /// count.
  void add_to(std::shared_ptr<TargetStats> sum) { sum_ = std::move(sum); }
  /// `flow`'s session has come to a state; `facts` of its connection while it is up.
  void set_session(unsigned flow, Session::State state, std::optional<SessionFacts> facts);
  void forget_sessions();
  void count_connect();
  void connected(const ConnectTimes& times);

  struct Snapshot {
    std::array<OpStats, kOps> ops{};
    std::array<unsigned, 4> states{};  ///< sessions by Session::State
    std::uint64_t connects = 0;
    std::uint64_t spun = 0;               ///< samples seen while spinning
    std::uint64_t slept = 0;              ///< after a sleep
    std::optional<SessionFacts> facts{};  ///< of the first flow that is up
    Histograms histograms{};
  };
  Snapshot snapshot() const;

 private:
  struct Flow {
    Session::State state{};
    std::optional<SessionFacts> facts;
  };
  OpStats& of(Op op) { return data_.ops[static_cast<std::size_t>(op)]; }
  void tally(Op op, bool slept, bool retransmitted);

  void count(Op op, const Completion& completion);

  const Path path_;
  const std::shared_ptr<Observer> observer_;
  std::shared_ptr<TargetStats> sum_;
  mutable std::mutex mutex_;
  Snapshot data_;
  std::map<unsigned, Flow> flows_;
};

}  // namespace rdma_exporter::probe
