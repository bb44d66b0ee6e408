// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::record {

/// SHA-256 in hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace rdma_exporter::record
