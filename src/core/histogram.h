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

/// An exemplar of an observation, with labels that say where it came from.
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

/// Sparse buckets as in Prometheus' native histograms: bucket i counts values above 2^((i-1)/8) and up to
/// 2^(i/8). Only runs of buckets that are not empty are listed.
struct NativeBuckets {
  struct Span {
    std::int32_t offset;  ///< first span: index of its first bucket; further spans: number of buckets skipped
                          ///< before it
    std::uint32_t length;
  };
  std::uint64_t zero_count = 0;  ///< observations up to kNativeZeroThreshold
  std::vector<Span> spans;
  std::vector<std::int64_t>
      deltas;  ///< difference of each bucket's count from that of the previous bucket, over all spans
};

/// Eight buckets per doubling: a quantile is off by at most 9 %, so that 2.0 us and 2.2 us differ, and any
/// latency between a microsecond and a second falls into one of 160 buckets.
inline constexpr int kNativeSchema = 3;
/// 2^-24 s, 60 ns: less than any latency on a network. Its presence also makes Prometheus recognise an empty
/// histogram as a native one.
inline constexpr double kNativeZeroThreshold = 0x1p-24;

/// The observations of a histogram in both forms: a value of a family of type histogram.
struct HistogramData {
  std::vector<Bucket> buckets;  ///< ascending, the last one is +Inf and holds the count
  double sum = 0;
  double created = 0;  ///< when counting started, in seconds since the epoch
  NativeBuckets native;

  std::uint64_t count() const { return buckets.back().cumulative; }
};

/// Counts observations of a time. Thread-safe. Its size is fixed: native buckets count values above 2^10 s as
/// 2^10 s.
class Histogram {
 public:
  /// `bounds` are those of the classic buckets, ascending, without +Inf. They must outlive the histogram.
  explicit Histogram(std::span<const double> bounds);

  /// Counts `seconds`. With `exemplar`, labels made by render_labels(), the observation becomes the exemplar
  /// of its classic bucket, unless the labels are longer than 128 bytes, the maximum in OpenMetrics.
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
  std::vector<std::uint64_t> counts_;  ///< count of each classic bucket, not cumulative
  std::vector<std::optional<Exemplar>> exemplars_;
  double sum_ = 0;
  std::uint64_t zero_count_ = 0;
  std::array<std::uint64_t, kHighest - kLowest + 1> native_{};
};

}  // namespace rdma_exporter::core
