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

/// The formats of a page.
enum class Format : unsigned char {
  text,         ///< Prometheus text format 0.0.4
  openmetrics,  ///< OpenMetrics text format 1.0.0
  protobuf,     ///< io.prometheus.client.MetricFamily messages, each preceded by its length
};
inline constexpr std::size_t kFormats = 3;

/// Writes families in one format. Not thread-safe.
class FormatWriter {
 public:
  virtual ~FormatWriter() = default;
  /// Appends `metric` with all of its samples; there is at least one.
  virtual void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) = 0;
  /// Appends the end of a page.
  virtual void finish(std::string& out) { (void)out; }
};

/// Makes the writer of a format. `start_time` is when the counters of this process began, in seconds since
/// the epoch; if given, OpenMetrics gets a `_created` series for each of them and for each histogram.
std::unique_ptr<FormatWriter> make_format_writer(Format format, std::optional<double> start_time = {});

/// A page as it is sent to a client.
struct Page {
  std::string body;
  Format format = Format::text;
  bool gzip = false;  ///< body is compressed
};

}  // namespace rdma_exporter::core
