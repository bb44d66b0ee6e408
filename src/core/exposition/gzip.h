// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// `text` as a gzip member (RFC 1952) at level 1: pages shrink to a seventh, higher levels cost twice the
/// time for little. Empty when memory runs out.
std::string gzip(std::string_view text);

}  // namespace rdma_exporter::core
