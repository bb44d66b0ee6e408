// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/sample_lines.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/text/number.h"

namespace rdma_exporter::core {
namespace {

using Digits = std::array<char, kNumberSize>;

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

template <typename Number>
void append_number(std::string& out, Number value) {
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  out.append(digits.data(), write_number(digits.data(), value));
}

void append_exemplar(std::string& out, const Exemplar& exemplar) {
  out.append(" # {").append(exemplar.labels).append("} ");
  append_number(out, exemplar.value);
  out += ' ';
  append_time(out, exemplar.timestamp);
}

void append_bucket_labels(std::string& out, std::string_view labels, double bound) {
  out.append("_bucket{").append(labels).append(labels.empty() ? "le=\"" : ",le=\"");
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  out.append(digits.data(), write_bound(digits.data(), bound)).append("\"} ");
}

}  // namespace

void append_help(std::string& out, std::string_view help, std::string_view escaped) {
  const bool plain = std::none_of(escaped.begin(), escaped.end(),
                                  [&](char c) { return help.find(c) != std::string_view::npos; });
  if (plain) {
    out.append(help);
    return;
  }
  for (const char c : help) {
    if (escaped.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' ? 'n' : c;
  }
}

void append_labels(std::string& out, const Sample& sample) {
  if (!sample.owner.empty() || !sample.own.empty()) out.append("{").append(sample.labels()).append("}");
}

void append_time(std::string& out, double time) {
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  constexpr int kMilliseconds = 3;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), time,
                                    std::chars_format::fixed, kMilliseconds);
  out.append(digits.data(), result.ptr);
}

// Space for the longest possible lines is made once, so that the loop only copies.
void append_samples(std::span<const Sample* const> samples, std::string& out) {
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

void append_histogram(const Sample& sample, WithExemplars exemplars, std::string& out) {
  const std::string_view name = sample.metric->name;
  const std::string labels = sample.labels();
  for (const Bucket& bucket : sample.histogram->buckets) {
    out.append(name);
    append_bucket_labels(out, labels, bucket.upper_bound);
    append_number(out, bucket.cumulative);
    if (exemplars == WithExemplars::yes && bucket.exemplar) append_exemplar(out, *bucket.exemplar);
    out += '\n';
  }
  out.append(name).append("_sum");
  append_labels(out, sample);
  out += ' ';
  append_number(out, sample.histogram->sum);
  out.append("\n").append(name).append("_count");
  append_labels(out, sample);
  out += ' ';
  append_number(out, sample.histogram->count());
  out += '\n';
}

}  // namespace rdma_exporter::core
