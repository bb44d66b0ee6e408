// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rdma_exporter::web {

struct Credentials {
  std::string user;
  std::string password;
};

/// Parses the value of an Authorization header: "Basic" and the base64 of "user:password" (RFC 7617). Returns
/// nothing if it is of another kind or malformed.
std::optional<Credentials> parse_basic_auth(std::string_view header);

}  // namespace rdma_exporter::web
