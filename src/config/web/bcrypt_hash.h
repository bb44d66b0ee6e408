// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

/// The most that a check of a password may cost: 2^16 rounds are about five seconds.
inline constexpr unsigned kHighestBcryptCost = 16;

/// Whether `hash` is "$2y$COST$" (or 2a, 2b) and 53 characters, as `htpasswd -B` writes it. The error is what
/// is wrong, without the hash, to be put after the key.
core::Result<void> check_bcrypt_hash(std::string_view hash);

}  // namespace rdma_exporter::config
