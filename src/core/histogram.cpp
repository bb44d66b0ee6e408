// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/histogram.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/seconds.h"

namespace rdma_exporter::core {
namespace {

// Upper bounds of the buckets between two powers of two, as fractions of the upper one: 2^(i/8 - 1).
constexpr std::array kFractions{0.5,
                                0.5452538663326288,
                                0.5946035575013605,
                                0.6484197773255048,
                                0.7071067811865475,
                                0.7711054127039704,
                                0.8408964152537144,
                                0.9170040432046711};

// A hole up to this wide costs less as empty buckets than as another span.
constexpr int kWidestHole = 2;

constexpr std::size_t kMaxExemplarBytes = 128;

}  // namespace

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds),
      created_(seconds_since_epoch()),
      counts_(bounds.size() + 1),
      exemplars_(bounds.size() + 1) {}

int Histogram::native_index(double seconds) {
  int exponent = 0;
  const double fraction = std::frexp(seconds, &exponent);  // [0.5, 1)
  const auto* const at = std::lower_bound(kFractions.begin(), kFractions.end(), fraction);
  const auto step = static_cast<int>(at - kFractions.begin());
  return std::clamp((exponent - 1) * static_cast<int>(kFractions.size()) + step, kLowest, kHighest);
}

void Histogram::observe(double seconds, std::string_view exemplar) {
  const auto bucket =
      static_cast<std::size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), seconds) - bounds_.begin());
  const std::lock_guard lock(mutex_);
  ++counts_[bucket];
  sum_ += seconds;
  if (seconds <= kNativeZeroThreshold) {
    ++zero_count_;
  } else {
    ++native_[static_cast<std::size_t>(native_index(seconds) - kLowest)];
  }
  if (!exemplar.empty() && exemplar.size() <= kMaxExemplarBytes)
    exemplars_[bucket] = Exemplar{std::string(exemplar), seconds, seconds_since_epoch()};
}

NativeBuckets Histogram::native() const {
  NativeBuckets out;
  out.zero_count = zero_count_;
  std::int64_t before = 0;
  int end = 0;  // index behind the last bucket listed
  for (int index = kLowest; index <= kHighest; ++index) {
    const auto count = static_cast<std::int64_t>(native_[static_cast<std::size_t>(index - kLowest)]);
    if (count == 0) continue;
    if (out.spans.empty() || index - end > kWidestHole) {
      out.spans.push_back({out.spans.empty() ? index : index - end, 0});
      end = index;
    }
    for (; end < index; ++end, before = 0) {  // the hole
      out.deltas.push_back(-before);
      ++out.spans.back().length;
    }
    out.deltas.push_back(count - before);
    ++out.spans.back().length;
    before = count;
    end = index + 1;
  }
  return out;
}

HistogramData Histogram::data() const {
  const std::lock_guard lock(mutex_);
  HistogramData out;
  out.buckets.reserve(counts_.size());
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    cumulative += counts_[i];
    const double bound = i < bounds_.size() ? bounds_[i] : std::numeric_limits<double>::infinity();
    out.buckets.push_back({bound, cumulative, exemplars_[i]});
  }
  out.sum = sum_;
  out.created = created_;
  out.native = native();
  return out;
}

}  // namespace rdma_exporter::core
