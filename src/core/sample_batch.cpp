// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/sample_batch.h"

#include <algorithm>
#include <utility>

namespace rdma_exporter::core {
namespace {

constexpr std::size_t kCopyBuffer = 512;  // bytes; most batches copy little or nothing

}  // namespace

std::string Sample::labels() const {
  std::string all(owner());
  if (!owner().empty() && !own().empty()) all += ',';
  return all.append(own());
}

SampleBatch::Owned& SampleBatch::owned() {
  if (!owned_) owned_ = std::make_unique<Owned>();
  return *owned_;
}

std::string_view SampleBatch::copy(std::string_view labels) {
  if (labels.empty()) return {};
  auto& [copies, filling, histograms] = owned();
  const auto room = [](const std::string& buffer) { return buffer.capacity() - buffer.size(); };
  while (filling < copies.size() && room(copies[filling]) < labels.size()) ++filling;
  if (filling == copies.size()) {
    std::string buffer;
    buffer.reserve(std::max(kCopyBuffer, labels.size()));
    copies.push_back(std::move(buffer));
  }
  std::string& buffer = copies[filling];
  buffer.append(labels);
  return std::string_view(buffer).substr(buffer.size() - labels.size());
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, std::uint64_t value) {
  if (takes(metric)) append(metric, copy(labels), {}).integer = value;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, double value) {
  if (!takes(metric)) return;
  Sample& sample = append(metric, copy(labels), {});
  sample.is_real = true;
  sample.real = value;
}

void SampleBatch::add(const MetricDesc& metric, std::string_view labels, HistogramData value) {
  if (!takes(metric)) return;
  append(metric, copy(labels), {}).histogram = &owned().histograms.emplace_back(std::move(value));
}

void SampleBatch::add_flag(const MetricDesc& metric, std::string_view labels, bool value) {
  add(metric, labels, std::uint64_t{value});
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, std::uint64_t value,
                             std::string_view own) {
  if (takes(metric)) append(metric, owner, own).integer = value;
}

void SampleBatch::add_stable(const MetricDesc& metric, const std::string& owner, double value,
                             std::string_view own) {
  if (!takes(metric)) return;
  Sample& sample = append(metric, owner, own);
  sample.is_real = true;
  sample.real = value;
}

void SampleBatch::clear() {
  samples_.clear();
  left_out_ = false;
  if (!owned_) return;
  for (std::string& buffer : owned_->copies) buffer.clear();
  owned_->filling = 0;
  owned_->histograms.clear();
}

void SampleBatch::truncate(std::size_t size) {
  if (size < samples_.size())
    samples_.erase(samples_.begin() + static_cast<std::ptrdiff_t>(size), samples_.end());
}

void SampleBatch::shrink() {
  if (samples_.capacity() > samples_.size() + samples_.size() / 4) samples_.shrink_to_fit();
  if (!owned_) return;
  std::vector<std::string>& copies = owned_->copies;
  while (!copies.empty() && copies.back().empty()) copies.pop_back();
}

}  // namespace rdma_exporter::core
