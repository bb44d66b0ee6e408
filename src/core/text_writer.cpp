// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/text_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/number.h"

namespace rdma_exporter::core {
namespace {

// Where each family's samples start in `refs`; refs keep the order of the batches within a family.
struct Buckets {
  std::vector<std::size_t> start;
  std::vector<const Sample*> refs;
};

constexpr std::uint32_t kUnknown = UINT32_MAX;

// Maps descriptors to family numbers. Neighbouring samples of two devices follow the same sequence of
// descriptors, but inside one device each sample has another one, so a plain hash look-up it is.
class FamilyIndex {
 public:
  explicit FamilyIndex(std::span<const MetricDesc* const> families) {
    index_.reserve(families.size());
    for (std::uint32_t i = 0; i < families.size(); ++i) index_.emplace(families[i], i);
  }
  std::uint32_t find(const MetricDesc* metric) const {
    const auto it = index_.find(metric);
    return it == index_.end() ? kUnknown : it->second;
  }

 private:
  std::unordered_map<const MetricDesc*, std::uint32_t> index_;
};

Buckets bucket(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches) {
  const FamilyIndex index(families);
  std::size_t total = 0;
  for (const SampleBatch* batch : batches) total += batch->size();
  std::vector<std::uint32_t> family_of;
  family_of.reserve(total);
  Buckets buckets;
  buckets.start.assign(families.size() + 1, 0);
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      family_of.push_back(index.find(sample.metric));
      if (family_of.back() != kUnknown) ++buckets.start[family_of.back() + 1];
    }
  }
  for (std::size_t i = 1; i < buckets.start.size(); ++i) buckets.start[i] += buckets.start[i - 1];
  buckets.refs.resize(buckets.start.back());
  std::vector<std::size_t> next(buckets.start.begin(), buckets.start.end() - 1);
  std::size_t n = 0;
  for (const SampleBatch* batch : batches) {
    for (const Sample& sample : batch->samples()) {
      const std::uint32_t family = family_of[n++];
      if (family != kUnknown) buckets.refs[next[family]++] = &sample;
    }
  }
  return buckets;
}

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

char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

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
  for (const Sample* sample : samples) longest += name.size() + sample->owner.size() + sample->own.size() + kNumberSize + 5;
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
    for (const Sample& sample : batch->samples()) size += sample.metric->name.size() + sample.owner.size() + sample.own.size() + kUsualNumber;
  return size + 200 * 100;  // HELP and TYPE lines
}

}  // namespace

void write_text(std::span<const MetricDesc* const> families, std::span<const SampleBatch* const> batches,
                std::string& out) {
  const Buckets buckets = bucket(families, batches);
  out.reserve(out.size() + estimate(batches));
  for (std::size_t family = 0; family < families.size(); ++family) {
    const std::size_t end = buckets.start[family + 1];
    if (buckets.start[family] == end) continue;
    write_head(*families[family], out);
    write_samples(std::span(buckets.refs).subspan(buckets.start[family], end - buckets.start[family]), out);
  }
}

}  // namespace rdma_exporter::core
