// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/page_writer.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/exposition/text_formats.h"

namespace rdma_exporter::core {
namespace {

// A page that grows by a few samples does not double its tables.
template <typename T>
void make_room(std::vector<T>& table, std::size_t size) {
  if (size > table.capacity()) table.reserve(size + size / 8);
}

}  // namespace

PageWriter::PageWriter(std::span<const MetricDesc* const> families) : start_(families.size() + 2) {
  if (families.size() > std::numeric_limits<Number>::max()) throw std::length_error("too many families");
  families_.reserve(families.size() + 1);
  for (const MetricDesc* metric : families) {
    numbers_.emplace(metric, static_cast<Number>(families_.size()));
    families_.push_back({metric});
  }
  families_.push_back({nullptr});
}

PageWriter::Number PageWriter::look_up(const MetricDesc* metric) const {
  const auto number = numbers_.find(metric);
  return number == numbers_.end() ? static_cast<Number>(families_.size() - 1) : number->second;
}

// Finds the family of each sample, and where the samples of each family will begin.
void PageWriter::count(std::span<const SampleBatch* const> batches) {
  std::size_t samples = 0;
  for (const SampleBatch* batch : batches) samples += batch->size();
  make_room(places_, samples);
  make_room(sorted_, samples);
  places_.resize(samples);
  sorted_.resize(samples);
  std::fill(start_.begin(), start_.end(), 0);
  auto place = places_.begin();
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      if (families_[*place].metric != sample.metric) *place = look_up(sample.metric);
      ++start_[*place + std::size_t{1}];
      ++place;
    }
  }
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
}

// A counting sort, which keeps the order within a family. False if the samples are not those of count().
bool PageWriter::sort_as_counted(std::span<const SampleBatch* const> batches) {
  auto start = start_.begin();
  for (Family& family : families_) family.next = sorted_.data() + *start++;
  const std::span families(families_);
  auto place = places_.begin();
  for (const SampleBatch* batch : batches) {
    if (batch->size() > static_cast<std::size_t>(places_.end() - place)) return false;
    for (const Sample& sample : batch->samples()) {
      Family& family = families[*place];
      if (family.metric != sample.metric && look_up(sample.metric) != *place) return false;
      *family.next++ = &sample;
      ++place;
    }
  }
  return place == places_.end();
}

std::size_t PageWriter::write(std::span<const SampleBatch* const> batches, FormatWriter& format,
                              std::string& out, std::size_t longest) {
  if (!sort_as_counted(batches)) {
    count(batches);
    sort_as_counted(batches);
  }
  std::size_t left_out = 0;
  for (std::size_t family = 0; families_[family].metric != nullptr; ++family) {
    const std::size_t samples = start_[family + 1] - start_[family];
    if (samples == 0) continue;
    const std::size_t before = out.size();
    format.write(*families_[family].metric, std::span(sorted_).subspan(start_[family], samples), out);
    if (out.size() <= longest) continue;
    out.resize(before);
    left_out += samples;
  }
  return left_out;
}

void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out) {
  TextFormat format;
  PageWriter(families).write(batches, format, out);
}

}  // namespace rdma_exporter::core
