// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "collectors/burst/sampler/device_sampler.h"
#include "collectors/burst/sampler/pace.h"
#include "collectors/burst/sampler/reader.h"
#include "collectors/burst/source.h"
#include "collectors/burst/table.h"
#include "collectors/ethtool/netdev_shared.h"
#include "collectors/settings.h"
#include "host/ethtool/ethtool_stats.h"
#include "host/host.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {

/// The pause times of the lossless priorities of one interface, and when they are read next. source() is
/// thread-safe; everything else is for the sampler's thread.
class PauseWatch {
 public:
  PauseWatch(host::Host& host, std::shared_ptr<const host::Netdev> netdev,
             std::shared_ptr<NetdevShared> shared, const BurstSettings& settings);

  /// Whether the driver has pause times.
  bool is_supported() const { return !table_.counters.empty(); }
  BurstSource& source() { return source_; }

  BurstClock::time_point due() const { return due_; }
  /// How long the last read took.
  std::chrono::nanoseconds spent() const { return spent_; }
  /// How long a read takes: the shorter of the last two, because one that hung, or during which the process
  /// was stopped, says nothing about the next. 0 before the first.
  std::chrono::nanoseconds cost() const { return cost_; }
  /// Reads. `window` is the window in use, `rest` the time between two reads while nothing is paused.
  void read(host::EthtoolScratch& scratch, std::chrono::nanoseconds window, std::chrono::nanoseconds rest,
            const BurstTime& time);
  /// Notes that it was not read for a while.
  void forget();

  /// A pause above this share, or a storm that the adapter reported, causes a read in each window for
  /// kAttention.
  static constexpr double kPaused = 0.01;
  static constexpr std::chrono::seconds kAttention{30};
  /// Time until the names are checked again if no priority has pause times: PFC may be enabled later.
  static constexpr std::chrono::seconds kNothingThere{60};

 private:
  void select();
  bool take(const host::EthtoolStats::Reading& reading, const ReadTime& time, Cadence cadence);
  void failed(const core::Error& error, BurstClock::time_point now);
  bool storm_was_seen(const host::EthtoolStats::Reading& reading);

  const std::shared_ptr<const host::Netdev> netdev_;
  const std::shared_ptr<NetdevShared> shared_;
  const BurstSettings settings_;
  const std::span<const CounterRow> rows_;
  const BurstTable table_;
  host::EthtoolStats stats_;
  BurstSource source_;
  BurstPatience patience_;
  std::uint64_t version_ = 0;
  std::optional<std::uint8_t> pfc_;
  std::vector<std::size_t> selected_;  ///< indices of pause times
  std::vector<std::size_t> storms_;    ///< indices of storm counters
  std::vector<std::uint64_t> values_;
  std::optional<std::uint64_t> storm_events_;
  std::optional<BurstClock::time_point> attention_until_;
  BurstClock::time_point due_{};
  unsigned windows_ = 1;  ///< number of windows that the current read stands for
  std::chrono::nanoseconds spent_ = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds cost_{0};
};

/// Reads the pause times of the host's interfaces, one at a time: a read of driver statistics holds the lock
/// of all interfaces (RTNL) while firmware answers. At most a twentieth of the time is spent in reads of up
/// to 3 s, even if all interfaces were read in each window; otherwise the window gets longer. turn() is
/// called by one thread at a time; everything else is thread-safe.
class PauseSampler {
 public:
  PauseSampler(const BurstSettings& settings, std::shared_ptr<const std::atomic<unsigned>> threads,
               BurstTime time = {});

  /// An interface is sampled as long as somebody else holds its object.
  void add(const std::shared_ptr<PauseWatch>& watch);
  /// Reads what is due and returns when to call again.
  BurstClock::time_point turn(bool first);
  /// Whether a read hangs: of that interface, or of another one that it waits for.
  bool hangs(BurstClock::time_point now) const { return watch_.hangs(now); }

  static constexpr std::chrono::nanoseconds kRest = std::chrono::seconds(1);
  /// Seconds without reads for each second spent in the kernel.
  static constexpr int kSpare = 19;
  /// The most that a read delays the next ones, however long it took.
  static constexpr std::chrono::nanoseconds kLongestRest = std::chrono::seconds(60);

 private:
  using Watches = std::vector<std::shared_ptr<PauseWatch>>;
  Watches watches();
  static std::chrono::nanoseconds cost(const Watches& all);
  void keep_pace(const Watches& all, BurstClock::time_point now);

  const BurstSettings settings_;
  const std::shared_ptr<const std::atomic<unsigned>> threads_;
  const BurstTime time_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<PauseWatch>> added_;
  Pace pace_;
  host::EthtoolScratch scratch_;
  BurstClock::time_point not_before_{};
  std::optional<BurstClock::time_point> last_turn_;
  std::chrono::nanoseconds last_cpu_{0};  ///< of the thread, at that time
  ReadWatch watch_;
};

}  // namespace rdma_exporter::collectors
