// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <span>
#include <string>
#include <string_view>

// Parts of the messages about mistakes in flags or the file.
namespace rdma_exporter::config {

/// `text` in double quotes, on one line and printable; long text is cut.
std::string in_quotes(std::string_view text);

/// The member of `known` that `wrong` is most likely a misspelling of; empty if none is close.
std::string nearest(std::string_view wrong, std::span<const std::string> known);

/// "a, b or c".
std::string alternatives(std::span<const std::string> words);

}  // namespace rdma_exporter::config
