// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// Appends `text` to `out`, each byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates) written as \xHH, so that different texts stay different. Kernel text such as node_desc is
/// written by users: it may hold any byte, and one bad byte makes Prometheus reject the whole page.
void append_utf8(std::string& out, std::string_view text);

}  // namespace rdma_exporter::core
