// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/histogram.h"
#include "core/metric.h"

namespace rdma_exporter::core {

/// One value of one series. Integers stay integers, so that a 64-bit counter is printed with all its digits.
/// A page has thousands of them, so they are packed.
struct Sample {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): one of the union is
  Sample(const MetricDesc* of, std::string_view owner, std::string_view own, bool from_start)
      : metric(of),
        integer(0),
        owner_text(owner.data()),
        own_text(own.data()),
        owner_size(owner.size() & kMaxSize),
        is_real(false),
        own_size(own.size() & kMaxSize),
        since_start(from_start) {}

  /// Labels of the device or port, a block made by render_labels().
  std::string_view owner() const { return {owner_text, owner_size}; }
  /// Further labels of this series, also a rendered block.
  std::string_view own() const { return {own_text, own_size}; }
  /// Both label blocks joined.
  std::string labels() const;

  const MetricDesc* metric;
  union {
    std::uint64_t integer;
    double real;
    const HistogramData* histogram;  ///< for metrics of type histogram only
  };
  const char* owner_text;
  const char* own_text;
  std::uint32_t owner_size : 31;
  bool is_real : 1;
  std::uint32_t own_size : 31;
  bool since_start : 1;  ///< whether the counter started at 0 when this process started

  static constexpr std::uint32_t kMaxSize = (std::uint32_t{1} << 31) - 1;  ///< no page has room for it
};
static_assert(sizeof(Sample) == 40);

/// The samples of one run of one job. After the first runs only histograms need an allocation, because
/// clear() keeps the buffers. Not thread-safe: filled by the worker that runs the job and read after
/// the run has ended.
class SampleBatch {
 public:
  /// Takes only families of the metric set `set`, so that others cost no memory and no series of a limit.
  explicit SampleBatch(MetricSet set = MetricSet::full) : set_(set) {}

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
  /// The same for samples that add_stable() has made before.
  void add_stable(std::span<const Sample> samples) {
    samples_.insert(samples_.end(), samples.begin(), samples.end());
  }
  void add_stable(const MetricDesc&, std::string&&, std::uint64_t, std::string_view own = {}) = delete;
  void add_stable(const MetricDesc&, std::string&&, double, std::string_view own = {}) = delete;

  /// Declares that samples added from now on count since the start of this process. Kernel counters do not:
  /// nobody knows when they started.
  void mark_since_start() { since_start_ = true; }

  const std::vector<Sample>& samples() const { return samples_; }
  std::size_t size() const { return samples_.size(); }
  /// Whether nothing was added since clear(), not even what was not taken.
  bool said_nothing() const { return samples_.empty() && !left_out_; }
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
  bool takes(const MetricDesc& metric) {
    if (metric.set <= set_) return true;
    left_out_ = true;
    return false;
  }
  std::string_view copy(std::string_view labels);
  Sample& append(const MetricDesc& metric, std::string_view owner, std::string_view own) {
    return samples_.emplace_back(&metric, owner, own, since_start_);
  }

  /// What samples point to and the batch owns.
  struct Owned {
    /// Buffers of copied labels, in use up to `filling`. None of them grows.
    std::vector<std::string> copies;
    std::size_t filling = 0;
    std::list<HistogramData> histograms;  ///< a list, because its elements do not move
  };
  Owned& owned();

  std::vector<Sample> samples_;
  std::unique_ptr<Owned> owned_;  ///< null until something is copied into it; most batches never need it
  MetricSet set_;
  bool left_out_ = false;
  bool since_start_ = false;
};

}  // namespace rdma_exporter::core
