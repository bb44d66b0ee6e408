// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The sources of the daemon as text, for rules that a compiler does not check.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace rdma_exporter::test {

/// Path below the top ("src/core/result.h") -> content, of every .h, .cpp and .in file in src/ and
/// collectors/.
std::map<std::string, std::string> source_files();

/// C++ text with comments and the insides of string and character literals blanked; lines stay lines.
std::string code_only(std::string_view text);

}  // namespace rdma_exporter::test
