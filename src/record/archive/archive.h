// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/result.h"

namespace rdma_exporter::record {

/// Names and contents of the members of an archive.
using Members = std::map<std::string, std::string, std::less<>>;

/// Writes a gzip-compressed tar archive of plain files. `time` is that of all members, in seconds since 1970.
std::string write_archive(const Members& members, std::int64_t time);

/// Unpacks an archive into memory; nothing is ever written to a file. The archive may come from anybody: it
/// is refused if a member is not a plain file with a plain name, appears twice, or exceeds record::limits.
/// The error is a message that continues after the archive's name: "is truncated or damaged".
core::Result<Members> read_archive(std::string_view bytes);

}  // namespace rdma_exporter::record
