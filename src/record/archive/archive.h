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

/// A tar archive of plain files, compressed by gzip. `time`: of all members, in seconds since 1970.
std::string write_archive(const Members& members, std::int64_t time);

/// Unpacks one into memory: nothing is ever written to a file. The archive may come from anybody: what is not
/// a plain file with a plain name, is there twice, or is beyond record::limits is refused. The error is a
/// message that goes on after the archive's name: "is truncated or damaged".
core::Result<Members> read_archive(std::string_view bytes);

}  // namespace rdma_exporter::record
