// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::http {

struct Url {
  bool tls = false;
  std::string host;        ///< without brackets
  std::uint16_t port = 0;  ///< 80 or 443 if the URL has none
  std::string target;      ///< path and query, at least "/"

  std::string host_header() const;
};

/// Parses "http://host[:port][/path][?query]", or the same with https. User names and passwords are rejected,
/// because they would be shown wherever the source is named. The context of an error says what is wrong, and
/// is meant to be put after the text.
core::Result<Url> parse_url(std::string_view text);

}  // namespace rdma_exporter::http
