// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "core/exposition/format.h"

namespace rdma_exporter::core {

/// A page as it is sent to a client.
struct Page {
  std::string body;
  Format format = Format::text;
  bool gzip = false;  ///< body is compressed
};

}  // namespace rdma_exporter::core
