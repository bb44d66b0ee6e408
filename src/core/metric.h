// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string_view>

namespace rdma_exporter::core {

enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// The metric sets. `lean` has what alerts, dashboards, runbooks and checks use, `full` has everything.
enum class MetricSet : std::uint8_t { lean, full };

/// One metric family: a row of a constexpr table. Its name, type, labels and help are written here only; the
/// exposition, --describe, docs/METRICS.md and the contract tests are derived from it.
struct MetricDesc {
  std::string_view name;    ///< whole name, so that grep finds it
  MetricType type;          ///< an info metric is a gauge whose name ends in _info and whose value is 1
  std::string_view labels;  ///< label names in order, separated by commas
  std::string_view unit;    ///< base unit ("bytes", "seconds", "ratio") or the thing counted ("packets")
  std::string_view help;    ///< one line of one or more sentences, without the final period
  std::string_view source;  ///< kernel file, header or document the value comes from
  MetricSet set = MetricSet::lean;  ///< the smallest set that contains the family
};

namespace detail {
constexpr bool lower_name(std::string_view text) {
  if (text.empty() || !(text.front() >= 'a' && text.front() <= 'z')) return false;
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  return true;
}
constexpr bool printable(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return !text.empty();
}
}  // namespace detail

namespace detail {
struct PrefixLabels {
  std::string_view prefix;
  std::string_view labels;
};
// Every series of a family with this prefix has these labels, first and in this order.
inline constexpr PrefixLabels kPrefixLabels[] = {
    {"rdma_device_", "device"},
    {"rdma_port_", "device,port"},
    {"rdma_netdev_", "device,port,netdev"},
    {"rdma_priority_", "device,port,netdev"},
    {"rdma_pfc_", "device,port,netdev"},
    {"rdma_dcb_", "device,port,netdev"},
    {"rdma_resource_", "device"},
    {"rdma_burst_", "device,port"},
    {"rdma_config_", "device"},
};
constexpr bool starts_with_list(std::string_view labels, std::string_view first) {
  return labels.starts_with(first) && (labels.size() == first.size() || labels[first.size()] == ',');
}
constexpr bool has_label(std::string_view labels, std::string_view label) {
  while (!labels.empty()) {
    const std::size_t comma = labels.find(',');
    if (labels.substr(0, comma) == label) return true;
    labels.remove_prefix(comma == std::string_view::npos ? labels.size() : comma + 1);
  }
  return false;
}
constexpr bool labels_fit(std::string_view name, std::string_view labels) {
  // Labels that a scrape or an alerting rule adds.
  for (const std::string_view taken : {"severity", "job", "instance", "cluster", "alertname"})
    if (has_label(labels, taken)) return false;
  for (const PrefixLabels& rule : kPrefixLabels)
    if (name.starts_with(rule.prefix) && !starts_with_list(labels, rule.labels)) return false;
  return true;
}
}  // namespace detail

/// True for metrics that describe what something is: type info in OpenMetrics.
constexpr bool is_info(const MetricDesc& metric) {
  return metric.type == MetricType::gauge && metric.name.ends_with("_info");
}

/// The family's name in OpenMetrics, which has `_total` and `_info` on the samples only.
constexpr std::string_view openmetrics_name(const MetricDesc& metric) {
  std::string_view name = metric.name;
  if (metric.type == MetricType::counter) name.remove_suffix(std::string_view("_total").size());
  if (is_info(metric)) name.remove_suffix(std::string_view("_info").size());
  return name;
}

/// Compile-time rules for one row: a legal lower-case name with one of our prefixes; `_total` on counters and
/// only there; no suffix that is reserved for the samples of a histogram; the base unit in the name; the
/// labels of its prefix first, and no label that Prometheus or people add; help without control characters; a
/// source.
constexpr bool valid(const MetricDesc& metric) {
  const bool prefix = metric.name.starts_with("rdma_") || metric.name.starts_with("process_");
  const bool total = metric.name.ends_with("_total");
  const bool counter = metric.type == MetricType::counter;
  if (!prefix || !detail::lower_name(metric.name) || total != counter) return false;
  if (metric.name.find("__") != std::string_view::npos) return false;
  if (!detail::labels_fit(metric.name, metric.labels)) return false;
  for (const std::string_view suffix : {"_bucket", "_count", "_sum", "_created"})
    if (metric.name.ends_with(suffix)) return false;
  for (const std::string_view unit : {"bytes", "seconds", "ratio"})
    if (metric.unit == unit && metric.name.find(unit) == std::string_view::npos) return false;
  return detail::printable(metric.help) && detail::printable(metric.source);
}

/// valid() for a whole table; use as `static_assert(all_valid(kTable))`.
template <typename Table>
constexpr bool all_valid(const Table& table) {
  for (const MetricDesc& metric : table)
    if (!valid(metric)) return false;
  return true;
}

/// "counter", "gauge" or "histogram", as in a TYPE line of text format 0.0.4.
constexpr std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace rdma_exporter::core
