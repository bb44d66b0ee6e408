// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/burst/sampler/pace.h"
#include "collectors/burst/window.h"
#include "core/histogram.h"
#include "core/metric.h"

namespace rdma_exporter::collectors {

/// What the values of a series of windows mean.
enum class BurstKind : std::uint8_t {
  share,  ///< share of the line's capacity, or of the time: 0 to 1
  count,  ///< number of packets
};

/// A distribution of windows as it is exported.
struct BurstView {
  core::HistogramData values;
  std::optional<double> maximum;                 ///< of the last minute
  std::optional<core::HistogramData> lengths{};  ///< duration in seconds of runs of windows above kBusy
};

/// The windows of one series. Keeps no single window, but a histogram, the maxima of the last minute, and the
/// length of the current run. Not thread-safe.
class BurstSeries {
 public:
  /// `bounds` of the classic buckets live as long as the process. Runs are not measured if `length_bounds` is
  /// empty.
  BurstSeries(BurstKind kind, std::span<const double> bounds, std::span<const double> length_bounds);

  /// Adds a window of `seconds`, which counts as `windows` windows.
  void observe(double value, double seconds, unsigned windows, BurstClock::time_point now);
  /// Notes a missing window: a run ends where it is no longer known.
  void end_run();
  /// Starts afresh: windows of another length form another distribution.
  void restart();

  BurstView view(BurstClock::time_point now) const;

  static constexpr double kBusy = 0.5;

 private:
  const BurstKind kind_;
  const std::span<const double> length_bounds_;
  std::vector<double> bounds_;  ///< as in the histogram
  std::unique_ptr<core::Histogram> values_;
  std::unique_ptr<core::Histogram> lengths_;
  RecentMaximum maximum_;
  double run_ = 0;
};

/// A series fed by the counters of a source.
struct BurstSignal {
  const core::MetricDesc* family = nullptr;  ///< family of the distribution
  const core::MetricDesc* maximum =
      nullptr;  ///< family of the maximum of the last minute; nullptr: not exported
  const core::MetricDesc* lengths = nullptr;  ///< family of the run lengths; nullptr: not exported
  std::string labels;                         ///< labels after those of the owner
  BurstKind kind = BurstKind::share;
  double unit = 1;  ///< for shares: the share of the capacity that one count of the kernel stands for
  std::span<const double> bounds{};
  std::span<const double> length_bounds{};
};

/// A counter of the kernel, one of those summed up in a signal.
struct BurstCounter {
  std::size_t signal = 0;
  unsigned bits = 64;
};

/// What has been read from one source of a port or interface (a read that returns several counters at once):
/// turns timed readings into distributions. Reads nothing itself. Thread-safe.
class BurstSource {
 public:
  explicit BurstSource(std::vector<BurstSignal> signals);

  /// Sets the counters whose values readings contain, in their order. Earlier readings are no longer a base
  /// for them.
  void set_counters(std::vector<BurstCounter> counters);
  /// Sets what the line can carry per second, in units of the shares. A change spoils the current window;
  /// with 0 the capacity is unknown and there are no windows.
  void set_capacity(double per_second);

  /// Adds a successful reading. Its window is judged and counted, unless it is the first.
  void take(const ReadTime& time, std::span<const std::uint64_t> values, Cadence cadence);
  /// Adds a failed reading, with a reason from core::reason().
  void fail(std::string_view reason);
  /// Drops the last reading as a base, because the source was not read for a while.
  void forget();

  using Counts = std::array<std::uint64_t, kWindowResults.size()>;
  struct State {
    std::chrono::nanoseconds window{};
    std::optional<std::chrono::nanoseconds> refresh{};
    Counts counts{};
    core::HistogramData reads{};
  };
  State state() const;
  std::optional<std::chrono::nanoseconds> refresh() const;

  bool has_counters() const;
  const std::vector<BurstSignal>& signals() const { return signals_; }
  /// nullopt: the kernel has no counter for it.
  std::optional<BurstView> view(std::size_t signal, BurstClock::time_point now) const;
  /// The highest share in the last complete window; 0 if that was not used.
  double last_share() const;
  /// Reasons of the readings that failed since the last call, without duplicates.
  std::vector<std::string_view> take_errors();

  /// Excess over the capacity that is attributed to differences between clocks and adapters.
  static constexpr double kTolerance = 0.02;

 private:
  struct Base {
    ReadTime time;
    std::vector<std::uint64_t> values;
  };

  void count(WindowResult result) { ++counts_.at(static_cast<std::size_t>(result)); }
  void end_runs();
  void use(const Base& before, const ReadTime& time, std::span<const std::uint64_t> values, Cadence cadence);
  std::optional<double> value_of(std::size_t signal, const Base& before,
                                 std::span<const std::uint64_t> values, double seconds) const;

  const std::vector<BurstSignal> signals_;
  mutable std::mutex mutex_;
  std::vector<BurstSeries> series_;
  std::vector<BurstCounter> counters_;
  std::vector<bool> fed_;  ///< by signal: whether it has a counter
  double capacity_ = 0;
  std::optional<Base> base_;
  bool spoilt_ = false;  ///< the current window is to be dropped
  std::chrono::nanoseconds window_{0};
  RefreshEstimate refresh_;
  core::Histogram reads_;
  Counts counts_{};
  double last_share_ = 0;
  std::vector<std::string_view> errors_;
};

}  // namespace rdma_exporter::collectors
