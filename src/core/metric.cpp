// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/metric.h"

namespace rdma_exporter::core {

std::string_view to_string(MetricType type) {
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
