// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::discovery {

struct Url {
  bool tls = false;
  std::string host;        ///< without brackets
  std::uint16_t port = 0;  ///< 80 or 443 where none is said
  std::string target;      ///< path and query, "/" at least

  std::string host_header() const;
};

/// "http://host[:port][/path][?query]" or https. User names and passwords are refused: they would be shown
/// where the source is named. The error's context is what is wrong, to be put after the text.
core::Result<Url> parse_url(std::string_view text);

}  // namespace rdma_exporter::discovery
