// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/text_format.h"

#include "core/exposition/sample_lines.h"

namespace rdma_exporter::core {

void TextFormat::write(const MetricDesc& metric, std::span<const Sample* const> samples, std::string& out) {
  out.append("# HELP ").append(metric.name).append(" ");
  append_help(out, metric.help, "\\\n");
  out.append("\n# TYPE ").append(metric.name).append(" ").append(to_string(metric.type)).append("\n");
  if (metric.type != MetricType::histogram) return append_samples(samples, out);
  for (const Sample* sample : samples) append_histogram(*sample, WithExemplars::no, out);
}

}  // namespace rdma_exporter::core
