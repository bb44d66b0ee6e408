// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectors/burst/window.h"
#include "core/histogram.h"

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

}  // namespace rdma_exporter::collectors
