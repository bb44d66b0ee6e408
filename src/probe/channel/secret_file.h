// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace rdma_exporter::probe {

/// A pre-shared key and its name, which is sent in the clear.
struct Secret {
  std::string identity;
  std::vector<unsigned char> key;
};

/// Lines `identity:hexadecimal key`; empty lines and those that start with # are skipped. There must be at
/// least one key, each of 16 to 64 bytes. Errors contain the number of the line and none of its text.
core::Result<std::vector<Secret>> parse_secrets(std::string_view text);

/// The same from a file that only its owner and group may read.
core::Result<std::vector<Secret>> read_secrets(const std::string& path);

}  // namespace rdma_exporter::probe
