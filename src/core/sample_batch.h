// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"

namespace rdma_exporter::core {

/// One value of one series. Integers stay integers, so that a 64-bit counter is printed with all its digits.
struct Sample {
  const MetricDesc* metric;
  std::uint32_t label_offset;
  std::uint32_t label_length;
  union {
    std::uint64_t integer;
    double real;
  };
  bool is_real;
};

/// The samples of one run of one job, flat, with the label text copied into one arena: a few allocations per
/// run at first, none once the buffers have grown (clear() keeps them).
/// Not thread-safe: filled by the worker that runs the job, read after the run has ended.
class SampleBatch {
 public:
  /// `labels` is a block made by render_labels(); copied.
  void add(const MetricDesc& metric, std::string_view labels, std::uint64_t value);
  void add(const MetricDesc& metric, std::string_view labels, double value);
  /// 0 or 1.
  void add_flag(const MetricDesc& metric, std::string_view labels, bool value);

  const std::vector<Sample>& samples() const { return samples_; }
  std::string_view labels(const Sample& sample) const {
    return {arena_.data() + sample.label_offset, sample.label_length};
  }
  std::size_t size() const { return samples_.size(); }
  void clear();

 private:
  Sample& push(const MetricDesc& metric, std::string_view labels);

  std::vector<Sample> samples_;
  std::string arena_;
};

}  // namespace rdma_exporter::core
