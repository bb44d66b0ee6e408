// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text_writer.h"

#include <algorithm>

#include "core/number.h"

namespace rdma_exporter::core {
namespace {

constexpr std::uint32_t kUnknown = UINT32_MAX;

void append_help(std::string& out, std::string_view help) {
  for (const char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

void write_head(const MetricDesc& metric, std::string& out) {
  out += "# HELP ";
  out += metric.name;
  out += ' ';
  append_help(out, metric.help);
  out += "\n# TYPE ";
  out += metric.name;
  out += ' ';
  out += to_string(metric.type);
  out += '\n';
}

char* put(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

char* put_labels(char* to, const Sample& sample) {
  if (sample.owner.empty() && sample.own.empty()) return to;
  *to++ = '{';
  to = put(to, sample.owner);
  if (!sample.owner.empty() && !sample.own.empty()) *to++ = ',';
  to = put(to, sample.own);
  *to++ = '}';
  return to;
}

// The lines of one family. Space for the longest possible lines is made once, so that the loop only copies.
void write_samples(std::span<const Sample* const> samples, std::string& out) {
  const std::string_view name = samples.front()->metric->name;
  std::size_t longest = 0;
  for (const Sample* sample : samples)
    longest += name.size() + sample->owner.size() + sample->own.size() + kNumberSize + 5;
  const std::size_t start = out.size();
  out.resize(start + longest);
  char* to = out.data() + start;
  for (const Sample* sample : samples) {
    to = put(to, name);
    to = put_labels(to, *sample);
    *to++ = ' ';
    to = sample->is_real ? write_number(to, sample->real) : write_number(to, sample->integer);
    *to++ = '\n';
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

// About the length of the page; most numbers have fewer digits.
std::size_t estimate(std::span<const SampleBatch* const> batches) {
  constexpr std::size_t kUsualNumber = 16;
  std::size_t size = 0;
  for (const SampleBatch* batch : batches)
    for (const Sample& sample : batch->samples())
      size += sample.metric->name.size() + sample.owner.size() + sample.own.size() + kUsualNumber;
  return size + 200 * 100;  // HELP and TYPE lines
}

}  // namespace

TextWriter::TextWriter(std::span<const MetricDesc* const> families)
    : families_(families.begin(), families.end()) {
  for (std::uint32_t i = 0; i < families_.size(); ++i) index_.emplace(families_[i], i);
}

// A counting sort, which keeps the order within a family.
void TextWriter::sort_by_family(std::span<const SampleBatch* const> batches) {
  family_of_.clear();
  start_.assign(families_.size() + 1, 0);
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      const auto family = index_.find(sample.metric);
      family_of_.push_back(family == index_.end() ? kUnknown : family->second);
      if (family_of_.back() != kUnknown) ++start_[family_of_.back() + 1];
    }
  }
  for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
  sorted_.resize(start_.back());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  std::size_t n = 0;
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      const std::uint32_t family = family_of_[n++];
      if (family != kUnknown) sorted_[next[family]++] = &sample;
    }
  }
}

void TextWriter::write(std::span<const SampleBatch* const> batches, std::string& out) {
  sort_by_family(batches);
  out.reserve(out.size() + estimate(batches));
  for (std::size_t family = 0; family < families_.size(); ++family) {
    const std::size_t samples = start_[family + 1] - start_[family];
    if (samples == 0) continue;
    write_head(*families_[family], out);
    write_samples(std::span(sorted_).subspan(start_[family], samples), out);
  }
}

void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out) {
  TextWriter(families).write(batches, out);
}

}  // namespace rdma_exporter::core
