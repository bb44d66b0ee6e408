// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/exposition/format.h"

#include "core/exposition/protobuf_format.h"
#include "core/exposition/text_formats.h"

namespace rdma_exporter::core {

std::unique_ptr<FormatWriter> make_format_writer(Format format, std::optional<double> start_time) {
  switch (format) {
    case Format::text:
      return std::make_unique<TextFormat>();
    case Format::openmetrics:
      return std::make_unique<OpenMetricsFormat>(start_time);
    case Format::protobuf:
      return std::make_unique<ProtobufFormat>();
  }
  return nullptr;
}

}  // namespace rdma_exporter::core
