// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/page_writer.h"

#include <algorithm>

#include "core/exposition/text_formats.h"

namespace rdma_exporter::core {
namespace {

constexpr std::uint32_t kUnknown = UINT32_MAX;

// A page that grows by a few samples does not double its tables.
template <typename T>
void make_room(std::vector<T>& table, std::size_t size) {
  if (size > table.capacity()) table.reserve(size + size / 8);
}

}  // namespace

PageWriter::PageWriter(std::span<const MetricDesc* const> families)
    : families_(families.begin(), families.end()), start_(families.size() + 1) {
  for (std::uint32_t i = 0; i < families_.size(); ++i) index_.emplace(families_[i], i);
}

std::uint32_t PageWriter::look_up(const MetricDesc* metric) const {
  const auto family = index_.find(metric);
  return family == index_.end() ? kUnknown : family->second;
}

// Puts each sample where the one at its place was on the last page. False if the page has others.
bool PageWriter::sort_as_before(std::span<const SampleBatch* const> batches) {
  std::size_t i = 0;
  for (const SampleBatch* batch : batches) {
    if (batch->size() > places_.size() - i) return false;
    for (const Sample& sample : batch->samples()) {
      const Place place = places_[i++];
      const bool known = place.family != kUnknown;
      if ((known ? families_[place.family] : unknown_[place.at]) != sample.metric) return false;
      if (known) sorted_[place.at] = &sample;
    }
  }
  return i == places_.size();
}

// A counting sort, which keeps the order within a family.
void PageWriter::sort_by_family(std::span<const SampleBatch* const> batches) {
  if (sort_as_before(batches)) return;
  std::size_t samples = 0;
  for (const SampleBatch* batch : batches) samples += batch->size();
  make_room(places_, samples);
  places_.resize(samples, {kUnknown, 0});
  start_.assign(families_.size() + 1, 0);
  auto place = places_.begin();
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      std::uint32_t& family = (place++)->family;
      if (family == kUnknown || families_[family] != sample.metric) family = look_up(sample.metric);
      if (family != kUnknown) ++start_[family + 1];
    }
  }
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  make_room(sorted_, start_.back());
  sorted_.resize(start_.back());
  next_.assign(start_.begin(), start_.end() - 1);
  unknown_.clear();
  place = places_.begin();
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      if (place->family != kUnknown) {
        place->at = static_cast<std::uint32_t>(next_[place->family]++);
        sorted_[place->at] = &sample;
      } else {
        place->at = static_cast<std::uint32_t>(unknown_.size());
        unknown_.push_back(sample.metric);
      }
      ++place;
    }
  }
}

std::size_t PageWriter::write(std::span<const SampleBatch* const> batches, FormatWriter& format,
                              std::string& out, std::size_t longest) {
  sort_by_family(batches);
  std::size_t left_out = 0;
  for (std::size_t family = 0; family < families_.size(); ++family) {
    const std::size_t samples = start_[family + 1] - start_[family];
    if (samples == 0) continue;
    const std::size_t before = out.size();
    format.write(*families_[family], std::span(sorted_).subspan(start_[family], samples), out);
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
