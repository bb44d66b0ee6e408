// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/text_formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "core/text/number.h"

namespace rdma_exporter::core {
namespace {

using Digits = std::array<char, kNumberSize>;

template <std::size_t kSize>
void put_ends(char* to, std::string_view text) {
  std::memcpy(to, text.data(), kSize);
  std::memcpy(to + text.size() - kSize, text.data() + text.size() - kSize, kSize);
}

// Labels have some 30 bytes: they are copied before memcpy() is called and has found out how long they are.
inline char* put(char* to, std::string_view text) {
  if (text.size() > 64) {
    std::memcpy(to, text.data(), text.size());
  } else if (text.size() > 32) {
    put_ends<32>(to, text);
  } else if (text.size() >= 16) {
    put_ends<16>(to, text);
  } else if (text.size() >= 8) {
    put_ends<8>(to, text);
  } else {
    for (std::size_t i = 0; i < text.size(); ++i) to[i] = text[i];
  }
  return to + text.size();
}

// What all lines of a family begin with. It is copied as a whole, with what follows it.
class LineStart {
 public:
  static constexpr std::size_t kSize = 64;

  explicit LineStart(std::string_view name) : name_(name) {
    std::copy_n(name.begin(), std::min(name.size(), kSize), copy_.begin());
  }

  std::size_t size() const { return name_.size(); }
  // At least kSize bytes are written.
  char* put(char* to) const {
    std::memcpy(to, copy_.data(), kSize);
    if (name_.size() > kSize) name_.copy(to + kSize, name_.size() - kSize, kSize);
    return to + name_.size();
  }

 private:
  std::string_view name_;
  std::array<char, kSize> copy_{};
};

inline char* put_labels(char* to, const Sample& sample) {
  if (sample.owner().empty() && sample.own().empty()) return to;
  *to++ = '{';
  to = put(to, sample.owner());
  if (!sample.own().empty()) {
    if (!sample.owner().empty()) *to++ = ',';
    to = put(to, sample.own());
  }
  *to++ = '}';
  return to;
}

inline char* put_line(char* to, const LineStart& start, const Sample& sample) {
  to = put_labels(start.put(to), sample);
  *to++ = ' ';
  to = sample.is_real ? write_number(to, sample.real) : write_number(to, sample.integer);
  *to++ = '\n';
  return to;
}

template <typename Number>
void append_number(std::string& out, Number value) {
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  out.append(digits.data(), write_number(digits.data(), value));
}

// With a backslash before each of the characters `escaped`; a newline becomes \n.
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

// In braces, or nothing if there are none.
void append_labels(std::string& out, const Sample& sample) {
  if (!sample.owner().empty() || !sample.own().empty()) out.append("{").append(sample.labels()).append("}");
}

// In seconds since the epoch, with millisecond precision.
void append_time(std::string& out, double time) {
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  constexpr int kMilliseconds = 3;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), time,
                                    std::chars_format::fixed, kMilliseconds);
  out.append(digits.data(), result.ptr);
}

void append_exemplar(std::string& out, const Exemplar& exemplar) {
  out.append(" # {").append(exemplar.labels).append("} ");
  append_number(out, exemplar.value);
  out += ' ';
  append_time(out, exemplar.timestamp);
}

void append_bucket_labels(std::string& out, std::string_view labels, std::string_view bound) {
  out.append("_bucket{")
      .append(labels)
      .append(labels.empty() ? "le=\"" : ",le=\"")
      .append(bound)
      .append("\"} ");
}

// A line for each sample of one counter or gauge. They are made in a buffer that stays in the cache, and
// copied to the page a few dozen at a time.
void append_samples(std::span<const Sample* const> samples, std::string& out) {
  constexpr std::size_t kChunk = 8192;
  constexpr std::size_t kLine = 1024;  // longer ones are rare
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read
  std::array<char, kChunk> chunk;
  char* const full = chunk.data() + kChunk - kLine;
  const LineStart start(samples.front()->metric->name);
  const std::size_t around_labels = std::max(start.size(), LineStart::kSize) + kNumberSize + 5;
  std::string long_line;
  char* to = chunk.data();
  for (const Sample* sample : samples) {
    const std::size_t longest = around_labels + sample->owner().size() + sample->own().size();
    if (to > full || longest > kLine) {
      out.append(chunk.data(), to);
      to = chunk.data();
    }
    if (longest <= kLine) {
      to = put_line(to, start, *sample);
      continue;
    }
    long_line.resize(longest);
    out.append(long_line.data(), put_line(long_line.data(), start, *sample));
  }
  out.append(chunk.data(), to);
}

enum class WithExemplars : bool { no, yes };
// The lines `_bucket`, `_sum` and `_count` of one histogram.
void append_histogram(const Sample& sample, WithExemplars exemplars, BoundTexts& bounds, std::string& out) {
  const std::string_view name = sample.metric->name;
  const std::string labels = sample.labels();
  for (const Bucket& bucket : sample.histogram->buckets) {
    out.append(name);
    append_bucket_labels(out, labels, bounds.of(bucket.upper_bound));
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

std::string_view type_name(const MetricDesc& metric) {
  return is_info(metric) ? "info" : to_string(metric.type);
}

// A unit must be the last word of the name, and an info metric has none.
bool has_unit_line(const MetricDesc& metric, std::string_view family) {
  return !metric.unit.empty() && !is_info(metric) && family.size() > metric.unit.size() &&
         family.ends_with(metric.unit) && family[family.size() - metric.unit.size() - 1] == '_';
}

void append_text_head(const MetricDesc& metric, std::string& out) {
  out.append("# HELP ").append(metric.name).append(" ");
  append_help(out, metric.help, "\\\n");
  out.append("\n# TYPE ").append(metric.name).append(" ").append(to_string(metric.type)).append("\n");
}

void append_openmetrics_head(const MetricDesc& metric, std::string& out) {
  const std::string_view family = openmetrics_name(metric);
  out.append("# TYPE ").append(family).append(" ").append(type_name(metric)).append("\n");
  if (has_unit_line(metric, family))
    out.append("# UNIT ").append(family).append(" ").append(metric.unit).append("\n");
  out.append("# HELP ").append(family).append(" ");
  append_help(out, metric.help, "\\\n\"");
  out.append("\n");
}

}  // namespace

const std::string& BoundTexts::of(double bound) {
  for (std::size_t tried = 0; tried < known_.size(); ++tried) {
    if (next_ >= known_.size()) next_ = 0;
    const Known& known = known_[next_++];
    if (known.bound == bound) return known.text;
  }
  if (known_.size() == kMaxKnown) known_.clear();
  Digits digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  known_.push_back({bound, std::string(digits.data(), write_bound(digits.data(), bound))});
  next_ = known_.size();
  return known_.back().text;
}

void TextFormat::write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) {
  heads_.append(metric, out, append_text_head);
  if (metric.type != MetricType::histogram) return append_samples(samples, out);
  for (const Sample* sample : samples) append_histogram(*sample, WithExemplars::no, bounds_, out);
}

void OpenMetricsFormat::append_created(const Sample& sample, double time, std::string& out) {
  out.append(openmetrics_name(*sample.metric)).append("_created");
  append_labels(out, sample);
  out.append(" ");
  append_time(out, time);
  out.append("\n");
}

void OpenMetricsFormat::write(const MetricDesc& metric, std::span<const Sample* const> samples,
                              std::string& out) {
  heads_.append(metric, out, append_openmetrics_head);
  const bool with_created = start_time_.has_value() && metric.type == MetricType::counter;
  if (metric.type != MetricType::histogram && !with_created) return append_samples(samples, out);
  for (const Sample* const& sample : samples) {
    if (metric.type == MetricType::histogram) {
      append_histogram(*sample, WithExemplars::yes, bounds_, out);
      if (start_time_) append_created(*sample, sample->histogram->created, out);
    } else {
      append_samples({&sample, 1}, out);
      if (sample->since_start) append_created(*sample, *start_time_, out);
    }
  }
}

void OpenMetricsFormat::finish(std::string& out) { out += "# EOF\n"; }

}  // namespace rdma_exporter::core
