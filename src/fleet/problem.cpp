// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "fleet/problem.h"

#include <algorithm>

namespace rdma_exporter::fleet {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::critical:
      return "critical";
  }
  return "unknown";
}

std::string Problem::id() const {
  std::string id = kind;
  for (const std::string& part : {detail, component.unit, host_part(component.instance), component.device})
    if (!part.empty() && !(part == component.unit && !component.instance.empty())) id += ":" + part;
  return id;
}

Severity worst(const Problems& problems) {
  Severity found = Severity::info;
  for (const Problem& problem : problems) found = std::max(found, problem.severity);
  return found;
}

int exit_status(const Analysis& analysis) {
  const Severity severity = worst(analysis.problems);
  if (severity == Severity::critical) return 2;
  return severity == Severity::warning || analysis.partial ? 1 : 0;
}

std::string host_part(std::string_view instance) {
  if (instance.starts_with('[')) return std::string(instance.substr(1, instance.find(']') - 1));
  const auto colon = instance.find(':');
  const bool bare_ipv6 = colon != std::string_view::npos && instance.find(':', colon + 1) != colon &&
                         instance.find(':', colon + 1) != std::string_view::npos;
  return std::string(bare_ipv6 ? instance : instance.substr(0, colon));
}

}  // namespace rdma_exporter::fleet
