// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/sample_batch.h"

namespace rdma_exporter::core {

Sample& SampleBatch::push(const MetricDesc& metric, std::string_view labels) {
  const auto offset = static_cast<std::uint32_t>(arena_.size());
  arena_.append(labels);
  Sample& sample = samples_.emplace_back();
  sample.metric = &metric;
  sample.label_offset = offset;
  sample.label_length = static_cast<std::uint32_t>(labels.size());
  return sample;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, std::uint64_t value) {
  Sample& sample = push(metric, labels);
  sample.integer = value;
  sample.is_real = false;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, double value) {
  Sample& sample = push(metric, labels);
  sample.real = value;
  sample.is_real = true;
}

void SampleBatch::add_flag(const MetricDesc& metric, std::string_view labels, bool value) {
  add(metric, labels, std::uint64_t{value});
}

void SampleBatch::clear() {
  samples_.clear();
  arena_.clear();
}

}  // namespace rdma_exporter::core
