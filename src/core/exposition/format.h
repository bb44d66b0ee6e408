// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/metric.h"
#include "core/sample_batch.h"

namespace rdma_exporter::core {

/// What a page can be written in.
enum class Format : unsigned char {
  text,         ///< Prometheus text format 0.0.4
  openmetrics,  ///< OpenMetrics text format 1.0.0
  protobuf,     ///< io.prometheus.client.MetricFamily, each with its length before it
};
inline constexpr std::size_t kFormats = 3;

/// Writes families in one format. One thread at a time.
class FormatWriter {
 public:
  virtual ~FormatWriter() = default;
  /// Appends `metric` with all of its samples, of which there is at least one.
  virtual void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) = 0;
  /// Appends what a page ends with.
  virtual void finish(std::string& out) { (void)out; }
};

/// `start_time` (seconds since the epoch): when the counters of this process began; given, OpenMetrics gets a
/// series `_created` for each of them and for each histogram.
std::unique_ptr<FormatWriter> make_format_writer(Format format, std::optional<double> start_time = {});

}  // namespace rdma_exporter::core
