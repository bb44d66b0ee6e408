// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/exposition/format.h"

namespace rdma_exporter::core {

/// What precedes the samples of each family, made once.
class FamilyHeads {
 public:
  /// Appends the head of `metric`, which `make(metric, text)` appends to an empty text.
  template <typename Make>
  void append(const MetricDesc& metric, std::string& out, const Make& make) {
    std::string& head = heads_[&metric];
    if (head.empty()) {
      std::string made;  // whole, or not at all where there is no memory
      make(metric, made);
      head = std::move(made);
    }
    out.append(head);
  }

 private:
  std::unordered_map<const MetricDesc*, std::string> heads_;
};

/// The bounds of buckets as text. The same few come in the same order in each page.
class BoundTexts {
 public:
  const std::string& of(double bound);

 private:
  struct Known {
    double bound;
    std::string text;
  };
  static constexpr std::size_t kMaxKnown = 64;
  std::vector<Known> known_;
  std::size_t next_ = 0;
};

/// Prometheus text format 0.0.4.
class TextFormat final : public FormatWriter {
 public:
  void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) override;

 private:
  FamilyHeads heads_;
  BoundTexts bounds_;
};

/// OpenMetrics text format 1.0.0 (github.com/OpenObservability/OpenMetrics, specification/OpenMetrics.md).
/// The names of series are those of text format 0.0.4; what differs is the name of the family.
class OpenMetricsFormat final : public FormatWriter {
 public:
  /// See make_format_writer().
  explicit OpenMetricsFormat(std::optional<double> start_time) : start_time_(start_time) {}
  void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) override;
  void finish(std::string& out) override;

 private:
  void append_created(const Sample& sample, double time, std::string& out);

  FamilyHeads heads_;
  BoundTexts bounds_;
  std::optional<double> start_time_;
};

}  // namespace rdma_exporter::core
