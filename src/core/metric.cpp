// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/metric.h"

namespace rdma_exporter::core {

std::string_view to_string(MetricType type) { return type == MetricType::counter ? "counter" : "gauge"; }

}  // namespace rdma_exporter::core
