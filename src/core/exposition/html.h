// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// Escapes `text` for an element or a quoted attribute of an HTML page, whatever it contains: names come from
/// the kernel and from users. Bytes that are not UTF-8 become \xHH, as written by append_utf8().
std::string html_text(std::string_view text);

}  // namespace rdma_exporter::core
