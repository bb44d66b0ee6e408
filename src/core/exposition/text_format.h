// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/exposition/format.h"

namespace rdma_exporter::core {

/// Prometheus text format 0.0.4.
class TextFormat final : public FormatWriter {
 public:
  void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) override;
};

}  // namespace rdma_exporter::core
