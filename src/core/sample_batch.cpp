// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/sample_batch.h"

#include <utility>

namespace rdma_exporter::core {

std::string Sample::labels() const {
  std::string all(owner);
  if (!owner.empty() && !own.empty()) all += ',';
  return all.append(own);
}

std::string_view SampleBatch::copy(std::string_view labels) {
  return labels.empty() ? std::string_view() : copies_.emplace_back(labels);
}

Sample& SampleBatch::append(const MetricDesc& metric, std::string_view owner, std::string_view own) {
  return samples_.emplace_back(Sample{&metric, owner, own, {}, false, since_start_});
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, std::uint64_t value) {
  append(metric, copy(labels), {}).integer = value;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, double value) {
  Sample& sample = append(metric, copy(labels), {});
  sample.is_real = true;
  sample.real = value;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, HistogramData value) {
  append(metric, copy(labels), {}).histogram = &histograms_.emplace_back(std::move(value));
}

void SampleBatch::add_flag(const MetricDesc& metric, std::string_view labels, bool value) {
  add(metric, labels, std::uint64_t{value});
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, std::uint64_t value,
                             std::string_view own) {
  append(metric, owner, own).integer = value;
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, double value,
                             std::string_view own) {
  Sample& sample = append(metric, owner, own);
  sample.is_real = true;
  sample.real = value;
}

void SampleBatch::clear() {
  samples_.clear();
  copies_.clear();
  histograms_.clear();
}

void SampleBatch::truncate(std::size_t size) {
  if (size < samples_.size())
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(size), samples_.end());
}

void SampleBatch::shrink() {
  if (samples_.capacity() > samples_.size() + samples_.size() / 4) samples_.shrink_to_fit();
}

}  // namespace rdma_exporter::core
