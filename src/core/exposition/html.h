// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::core {

/// `text` as what a reader of an HTML page sees, in an element or a quoted attribute, whatever is in it:
/// names come from the kernel and from users. Bytes that are not UTF-8 become \xHH, as append_utf8() writes
/// them.
std::string html_text(std::string_view text);

}  // namespace rdma_exporter::core
