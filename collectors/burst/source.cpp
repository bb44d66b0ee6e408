// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/source.h"

#include <algorithm>
#include <utility>

#include "collectors/burst/families.h"
#include "core/seconds.h"

namespace rdma_exporter::collectors {
namespace {

// core::Histogram has native buckets for seconds, up to 2^10. A count of packets is put into it 2^20 times
// smaller: a power of two moves each observation by whole buckets, so nothing is lost, and 0 stays 0.
constexpr int kCountExponent = 20;
constexpr double kCountUnit = 1 << kCountExponent;
constexpr int kBucketsPerDoubling = 1 << core::kNativeSchema;

core::HistogramData enlarged(core::HistogramData data) {
  for (core::Bucket& bucket : data.buckets) bucket.upper_bound *= kCountUnit;
  data.sum *= kCountUnit;
  if (!data.native.spans.empty()) data.native.spans.front().offset += kCountExponent * kBucketsPerDoubling;
  return data;
}

}  // namespace

BurstSeries::BurstSeries(BurstKind kind, std::span<const double> bounds,
                         std::span<const double> length_bounds)
    : kind_(kind), length_bounds_(length_bounds), bounds_(bounds.begin(), bounds.end()) {
  if (kind_ == BurstKind::count)
    for (double& bound : bounds_) bound /= kCountUnit;
  restart();
}

void BurstSeries::restart() {
  values_ = std::make_unique<core::Histogram>(bounds_);
  if (!length_bounds_.empty()) lengths_ = std::make_unique<core::Histogram>(length_bounds_);
  maximum_ = {};
  run_ = 0;
}

void BurstSeries::observe(double value, double seconds, unsigned windows, BurstClock::time_point now) {
  for (unsigned i = 0; i < windows; ++i)
    values_->observe(kind_ == BurstKind::count ? value / kCountUnit : value);
  maximum_.observe(value, now);
  if (!lengths_) return;
  if (value <= kBusy) return end_run();
  run_ += seconds;
}

void BurstSeries::end_run() {
  if (lengths_ && run_ > 0) lengths_->observe(run_);
  run_ = 0;
}

BurstView BurstSeries::view(BurstClock::time_point now) const {
  BurstView out{values_->data(), maximum_.get(now)};
  if (kind_ == BurstKind::count) out.values = enlarged(std::move(out.values));
  if (lengths_) out.lengths = lengths_->data();
  return out;
}

using std::chrono::nanoseconds;

BurstSource::BurstSource(std::vector<BurstSignal> signals)
    : signals_(std::move(signals)), fed_(signals_.size()), reads_(kBurstReadBounds) {
  for (const BurstSignal& signal : signals_)
    series_.emplace_back(signal.kind, signal.bounds, signal.length_bounds);
}

void BurstSource::set_counters(std::vector<BurstCounter> counters) {
  const std::lock_guard lock(mutex_);
  counters_ = std::move(counters);
  std::fill(fed_.begin(), fed_.end(), false);
  for (const BurstCounter& counter : counters_) fed_.at(counter.signal) = true;
  base_.reset();
  end_runs();
}

void BurstSource::set_capacity(double per_second) {
  const std::lock_guard lock(mutex_);
  if (per_second == std::exchange(capacity_, per_second)) return;
  spoilt_ = base_.has_value();
}

void BurstSource::take(const ReadTime& time, std::span<const std::uint64_t> values, Cadence cadence) {
  const std::lock_guard lock(mutex_);
  reads_.observe(core::seconds(time.spent()));
  last_share_ = 0;
  if (window_ != cadence.window) {
    window_ = cadence.window;
    for (BurstSeries& series : series_) series.restart();
  }
  const auto before = std::exchange(base_, Base{time, {values.begin(), values.end()}});
  const bool spoilt = std::exchange(spoilt_, false);
  if (!before || before->values.size() != values.size()) return;
  if (is_late(before->time, time, cadence.expected()) || spoilt) {
    count(spoilt ? WindowResult::reset : WindowResult::late);
    return end_runs();
  }
  use(*before, time, values, cadence);
}

void BurstSource::use(const Base& before, const ReadTime& time, std::span<const std::uint64_t> values,
                      Cadence cadence) {
  const double seconds = core::seconds(time.middle() - before.time.middle());
  // Nobody knows when within a read the kernel looked.
  const double doubt = core::seconds(time.spent() + before.time.spent()) / (2 * seconds);
  WindowResult result = WindowResult::used;
  bool moved = false;
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    if (!fed_[i]) continue;
    const auto value = value_of(i, before, values, seconds);
    const bool too_much = value && signals_[i].kind == BurstKind::share && *value > 1 + kTolerance + doubt;
    moved = moved || value.value_or(0) > 0;
    if (value && !too_much) {
      series_[i].observe(*value, seconds, cadence.windows, time.middle());
      if (signals_[i].kind == BurstKind::share) last_share_ = std::max(last_share_, *value);
      continue;
    }
    series_[i].end_run();
    result = std::max(result, too_much ? WindowResult::implausible : WindowResult::reset);
  }
  count(result);
  refresh_.take(time.middle(), moved, result == WindowResult::implausible, cadence.expected());
}

std::optional<double> BurstSource::value_of(std::size_t signal, const Base& before,
                                            std::span<const std::uint64_t> values, double seconds) const {
  double sum = 0;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].signal != signal) continue;
    const auto risen = increase(before.values[i], values[i], counters_[i].bits);
    if (!risen) return {};
    sum += static_cast<double>(*risen);
  }
  if (signals_[signal].kind == BurstKind::count) return sum;
  if (capacity_ <= 0) return {};
  return sum * signals_[signal].unit / (capacity_ * seconds);
}

void BurstSource::fail(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  if (std::find(errors_.begin(), errors_.end(), reason) == errors_.end()) errors_.push_back(reason);
  count(WindowResult::error);
  base_.reset();
  end_runs();
}

void BurstSource::forget() {
  const std::lock_guard lock(mutex_);
  base_.reset();
  spoilt_ = false;
  end_runs();
}

void BurstSource::end_runs() {
  for (BurstSeries& series : series_) series.end_run();
}

BurstSource::State BurstSource::state() const {
  const std::lock_guard lock(mutex_);
  return {window_, refresh_.found(), counts_, reads_.data()};
}

std::optional<nanoseconds> BurstSource::refresh() const {
  const std::lock_guard lock(mutex_);
  return refresh_.found();
}

bool BurstSource::has_counters() const {
  const std::lock_guard lock(mutex_);
  return !counters_.empty();
}

std::optional<BurstView> BurstSource::view(std::size_t signal, BurstClock::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (!fed_.at(signal)) return {};
  return series_.at(signal).view(now);
}

double BurstSource::last_share() const {
  const std::lock_guard lock(mutex_);
  return last_share_;
}

std::vector<std::string_view> BurstSource::take_errors() {
  const std::lock_guard lock(mutex_);
  return std::exchange(errors_, {});
}

}  // namespace rdma_exporter::collectors
