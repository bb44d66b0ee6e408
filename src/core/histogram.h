// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::core {

/// An example of an observation, with labels that say where it came from.
struct Exemplar {
  std::string labels;  ///< a block made by render_labels()
  double value = 0;
  double timestamp = 0;  ///< seconds since the epoch
};

struct Bucket {
  double upper_bound = 0;        ///< inclusive; +Inf for the last one
  std::uint64_t cumulative = 0;  ///< observations up to the bound
  std::optional<Exemplar> exemplar;
};

/// Sparse buckets as Prometheus' native histograms have them: bucket i holds what is above 2^((i-1)/8) and up
/// to 2^(i/8); of runs of buckets only those are listed that are not empty.
struct NativeBuckets {
  struct Span {
    std::int32_t offset;  ///< the first one: index of its first bucket; others: buckets skipped before it
    std::uint32_t length;
  };
  std::uint64_t zero_count = 0;  ///< observations up to kNativeZeroThreshold
  std::vector<Span> spans;
  std::vector<std::int64_t> deltas;  ///< of each bucket's count to that of the one before, over all spans
};

/// Eight buckets for each doubling: a quantile is off by at most 9 %, so that 2.0 us and 2.2 us differ; and a
/// latency of anything between a microsecond and a second lands in one of 160 buckets.
inline constexpr int kNativeSchema = 3;
/// 2^-24 s, 60 ns: less than any latency on a network. Also what makes Prometheus take an empty histogram for
/// a native one.
inline constexpr double kNativeZeroThreshold = 0x1p-24;

/// What a histogram has seen, in both forms: a value of a family of the type histogram.
struct HistogramData {
  std::vector<Bucket> buckets;  ///< ascending, the last one is +Inf and holds the count
  double sum = 0;
  double created = 0;  ///< when it began to count, seconds since the epoch
  NativeBuckets native;

  std::uint64_t count() const { return buckets.back().cumulative; }
};

/// Counts observations of a time. Thread-safe. Its size is fixed: what lies above 2^10 s counts as just that
/// in the native buckets.
class Histogram {
 public:
  /// `bounds`: of the classic buckets, ascending, without +Inf; must outlive the histogram.
  explicit Histogram(std::span<const double> bounds);

  /// Counts `seconds`. With `exemplar`, labels as render_labels() makes them, the observation becomes the
  /// example of its classic bucket; not with more than 128 bytes, the most that OpenMetrics allows.
  void observe(double seconds, std::string_view exemplar = {});

  HistogramData data() const;

 private:
  static constexpr int kLowest = -24 * 8 + 1;  ///< index of the first native bucket above the zero bucket
  static constexpr int kHighest = 10 * 8;

  static int native_index(double seconds);
  NativeBuckets native() const;  // mutex held

  const std::span<const double> bounds_;
  const double created_;
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> counts_;  ///< of each classic bucket alone
  std::vector<std::optional<Exemplar>> exemplars_;
  double sum_ = 0;
  std::uint64_t zero_count_ = 0;
  std::array<std::uint64_t, kHighest - kLowest + 1> native_{};
};

}  // namespace rdma_exporter::core
