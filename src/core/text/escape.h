// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

// Text from users and the kernel made safe to print, whatever bytes it holds.
namespace rdma_exporter::core {

/// Appends `text` to `out`, each byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates) written as \xHH, so that different texts stay different. Kernel text such as node_desc is
/// written by users: it may hold any byte, and one bad byte makes Prometheus reject the whole page.
void append_utf8(std::string& out, std::string_view text);

/// Escapes `text` for an element or a quoted attribute of an HTML page, whatever it contains: names come from
/// the kernel and from users. Bytes that are not UTF-8 become \xHH, as written by append_utf8().
std::string html_text(std::string_view text);

}  // namespace rdma_exporter::core
