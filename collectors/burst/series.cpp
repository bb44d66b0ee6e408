// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/series.h"

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

}  // namespace rdma_exporter::collectors
