// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::fuzz {

/// Reads a page of text format 0.0.4 as strictly as its specification allows and one step beyond: every line
/// is a HELP, a TYPE or a sample; each family is in one piece, HELP and TYPE first; names are legal; values
/// of labels hold well-formed UTF-8 and no escape but \\, \" and \n; a value is a number; no series twice.
/// Returns what is wrong, empty when nothing is.
std::string page_error(std::string_view page);

/// Whether `text` is well-formed UTF-8 (RFC 3629), by a table of its own.
bool is_utf8(std::string_view text);

}  // namespace rdma_exporter::fuzz
