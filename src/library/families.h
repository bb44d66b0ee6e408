// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <prometheus/metric_family.h>

#include <string_view>
#include <vector>

namespace rdma_exporter::library {

/// The families of a page in the protobuf format (core::ProtobufFormat), for prometheus-cpp. It knows no
/// native histograms and no exemplars: classic buckets are what stays of a histogram. Throws
/// protozero::exception for bytes that are no such page.
std::vector<prometheus::MetricFamily> families(std::string_view page);

}  // namespace rdma_exporter::library
