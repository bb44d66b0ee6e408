// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include "core/exposition/format.h"

namespace rdma_exporter::core {

/// Messages io.prometheus.client.MetricFamily, each preceded by its length as a varint. The only format with
/// native histograms, which are sent along with the classic buckets. Numbers are doubles: integers above 2^53
/// lose digits, as they do in Prometheus anyway.
class ProtobufFormat final : public FormatWriter {
 public:
  void write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) override;

 private:
  std::string family_;  ///< the message being built; kept for its buffer
};

}  // namespace rdma_exporter::core
