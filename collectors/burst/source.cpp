// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/source.h"

#include <algorithm>
#include <utility>

#include "collectors/burst/families.h"
#include "core/seconds.h"

namespace rdma_exporter::collectors {

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
