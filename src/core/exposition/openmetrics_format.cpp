// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/openmetrics_format.h"

#include "core/exposition/sample_lines.h"

namespace rdma_exporter::core {
namespace {

std::string_view type_name(const MetricDesc& metric) {
  return is_info(metric) ? "info" : to_string(metric.type);
}

// A unit must be the last word of the name, and an info metric has none.
bool has_unit_line(const MetricDesc& metric, std::string_view family) {
  return !metric.unit.empty() && !is_info(metric) && family.size() > metric.unit.size() &&
         family.ends_with(metric.unit) && family[family.size() - metric.unit.size() - 1] == '_';
}

void append_head(const MetricDesc& metric, std::string& out) {
  const std::string_view family = openmetrics_name(metric);
  out.append("# TYPE ").append(family).append(" ").append(type_name(metric)).append("\n");
  if (has_unit_line(metric, family))
    out.append("# UNIT ").append(family).append(" ").append(metric.unit).append("\n");
  out.append("# HELP ").append(family).append(" ");
  append_help(out, metric.help, "\\\n\"");
  out.append("\n");
}

}  // namespace

void OpenMetricsFormat::append_created(const Sample& sample, double time, std::string& out) {
  out.append(openmetrics_name(*sample.metric)).append("_created");
  append_labels(out, sample);
  out.append(" ");
  append_time(out, time);
  out.append("\n");
}

void OpenMetricsFormat::write(const MetricDesc& metric, std::span<const Sample* const> samples,
                              std::string& out) {
  append_head(metric, out);
  const bool with_created = start_time_.has_value() && metric.type == MetricType::counter;
  if (metric.type != MetricType::histogram && !with_created) return append_samples(samples, out);
  for (const Sample* const& sample : samples) {
    if (metric.type == MetricType::histogram) {
      append_histogram(*sample, WithExemplars::yes, out);
      if (start_time_) append_created(*sample, sample->histogram->created, out);
    } else {
      append_samples({&sample, 1}, out);
      if (sample->since_start) append_created(*sample, *start_time_, out);
    }
  }
}

void OpenMetricsFormat::finish(std::string& out) { out += "# EOF\n"; }

}  // namespace rdma_exporter::core
