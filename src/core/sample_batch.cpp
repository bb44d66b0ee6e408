// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/sample_batch.h"

namespace rdma_exporter::core {
namespace {

Sample make(const MetricDesc& metric, std::string_view owner, std::string_view own, std::uint64_t value) {
  Sample sample{&metric, owner, own, {}, false};
  sample.integer = value;
  return sample;
}

Sample make(const MetricDesc& metric, std::string_view owner, std::string_view own, double value) {
  Sample sample{&metric, owner, own, {}, true};
  sample.real = value;
  return sample;
}

}  // namespace

std::string Sample::labels() const {
  std::string all(owner);
  if (!owner.empty() && !own.empty()) all += ',';
  return all.append(own);
}

std::string_view SampleBatch::copy(std::string_view labels) {
  return labels.empty() ? std::string_view() : copies_.emplace_back(labels);
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, std::uint64_t value) {
  samples_.push_back(make(metric, copy(labels), {}, value));
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, double value) {
  samples_.push_back(make(metric, copy(labels), {}, value));
}

void SampleBatch::add_flag(const MetricDesc& metric, std::string_view labels, bool value) {
  add(metric, labels, std::uint64_t{value});
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, std::uint64_t value,
                             std::string_view own) {
  samples_.push_back(make(metric, owner, own, value));
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, double value,
                             std::string_view own) {
  samples_.push_back(make(metric, owner, own, value));
}

void SampleBatch::clear() {
  samples_.clear();
  copies_.clear();
}

void SampleBatch::truncate(std::size_t size) {
  if (size < samples_.size())
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(size), samples_.end());
}

void SampleBatch::shrink() {
  if (samples_.capacity() > samples_.size() + samples_.size() / 4) samples_.shrink_to_fit();
}

}  // namespace rdma_exporter::core
