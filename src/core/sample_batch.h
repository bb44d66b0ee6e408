// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

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
  std::string_view own;    ///< further labels of this series, such a block
  union {
    std::uint64_t integer;
    double real;
    const HistogramData* histogram;  ///< for metrics of that type, and only there
  };
  bool is_real;
  bool since_start;  ///< a counter that began at 0 when this process started

  /// Both blocks together.
  std::string labels() const;
};

/// The samples of one run of one job. After the first runs nothing is allocated any more for samples with
/// stable labels: clear() keeps the buffer. Not thread-safe: filled by the worker that runs the job, read
/// after the run has ended.
class SampleBatch {
 public:
  /// `labels` is a block made by render_labels(); copied.
  void add(const MetricDesc& metric, std::string_view labels, std::uint64_t value);
  void add(const MetricDesc& metric, std::string_view labels, double value);
  /// For metrics of the type histogram.
  void add(const MetricDesc& metric, std::string_view labels, HistogramData value);
  /// 0 or 1.
  void add_flag(const MetricDesc& metric, std::string_view labels, bool value);

  /// The same without copying: the strings must stay as they are until the job runs again or is destroyed.
  /// For what a job keeps from run to run, which is nearly everything. `own` are labels behind those of the
  /// owner; many series share one owner's block, and one table's words.
  void add_stable(const MetricDesc& metric, const std::string& owner, std::uint64_t value,
                  std::string_view own = {});
  void add_stable(const MetricDesc& metric, const std::string& owner, double value,
                  std::string_view own = {});
  void add_stable(const MetricDesc&, std::string&&, std::uint64_t, std::string_view own = {}) = delete;
  void add_stable(const MetricDesc&, std::string&&, double, std::string_view own = {}) = delete;

  /// Says that what is added from now on counts since the start of this process. The counters of a kernel do
  /// not: nobody knows when they began.
  void mark_since_start() { since_start_ = true; }

  const std::vector<Sample>& samples() const { return samples_; }
  std::size_t size() const { return samples_.size(); }
  void clear();
  /// Keeps the first `size` samples.
  void truncate(std::size_t size);
  /// Gives back what growing has reserved in excess.
  void shrink();

 private:
  std::string_view copy(std::string_view labels);
  Sample& append(const MetricDesc& metric, std::string_view owner, std::string_view own);

  std::vector<Sample> samples_;
  // Lists: what is in them does not move, and most batches have neither. A deque allocates also when it is
  // empty.
  std::list<std::string> copies_;
  std::list<HistogramData> histograms_;
  bool since_start_ = false;
};

}  // namespace rdma_exporter::core
