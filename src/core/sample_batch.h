// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "core/histogram.h"
#include "core/metric.h"

namespace rdma_exporter::core {

/// One value of one series. Integers stay integers, so that a 64-bit counter is printed with all its digits.
struct Sample {
  const MetricDesc* metric;
  std::string_view owner;  ///< labels of the device or port, a block made by render_labels()
  std::string_view own;    ///< further labels of this series, also a rendered block
  union {
    std::uint64_t integer;
    double real;
    const HistogramData* histogram;  ///< for metrics of type histogram only
  };
  bool is_real;
  bool since_start;  ///< whether the counter started at 0 when this process started

  /// Both label blocks joined.
  std::string labels() const;
};

/// The samples of one run of one job. After the first runs, samples with stable labels need no allocation,
/// because clear() keeps the buffer. Not thread-safe: filled by the worker that runs the job and read after
/// the run has ended.
class SampleBatch {
 public:
  /// Adds a sample. `labels` is a block made by render_labels() and is copied.
  void add(const MetricDesc& metric, std::string_view labels, std::uint64_t value);
  void add(const MetricDesc& metric, std::string_view labels, double value);
  /// The same for metrics of type histogram.
  void add(const MetricDesc& metric, std::string_view labels, HistogramData value);
  /// The same for a boolean: 0 or 1.
  void add_flag(const MetricDesc& metric, std::string_view labels, bool value);

  /// The same without copying: the strings must not change until the job runs again or is destroyed. For
  /// labels that a job keeps from run to run, which is nearly all of them. `own` follows the labels of the
  /// owner; many series share the block of one owner and the words of one table.
  void add_stable(const MetricDesc& metric, const std::string& owner, std::uint64_t value,
                  std::string_view own = {});
  void add_stable(const MetricDesc& metric, const std::string& owner, double value,
                  std::string_view own = {});
  void add_stable(const MetricDesc&, std::string&&, std::uint64_t, std::string_view own = {}) = delete;
  void add_stable(const MetricDesc&, std::string&&, double, std::string_view own = {}) = delete;

  /// Declares that samples added from now on count since the start of this process. Kernel counters do not:
  /// nobody knows when they started.
  void mark_since_start() { since_start_ = true; }

  const std::vector<Sample>& samples() const { return samples_; }
  std::size_t size() const { return samples_.size(); }
  void clear();
  /// Keeps the first `size` samples.
  void truncate(std::size_t size);
  /// Removes the samples from index `first` on for which `unwanted` returns true. The others keep their
  /// order.
  template <typename Predicate>
  void remove_if(std::size_t first, const Predicate& unwanted) {
    const auto from = samples_.begin() + static_cast<std::ptrdiff_t>(std::min(first, samples_.size()));
    samples_.erase(std::remove_if(from, samples_.end(), unwanted), samples_.end());
  }
  /// Releases memory that was reserved but is not used.
  void shrink();

 private:
  std::string_view copy(std::string_view labels);
  Sample& append(const MetricDesc& metric, std::string_view owner, std::string_view own);

  std::vector<Sample> samples_;
  // Lists, because their elements do not move, and because most batches have none of either. A deque
  // allocates even if it is empty.
  std::list<std::string> copies_;
  std::list<HistogramData> histograms_;
  bool since_start_ = false;
};

}  // namespace rdma_exporter::core
