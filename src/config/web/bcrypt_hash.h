// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string_view>

#include "core/result.h"

namespace rdma_exporter::config {

/// The highest cost of a password check that is allowed: 2^16 rounds take about five seconds.
inline constexpr unsigned kHighestBcryptCost = 16;

/// Checks that `hash` is "$2y$COST$" (or 2a, 2b) and 53 characters, the output of `htpasswd -B`. The error
/// says what is wrong, without the hash; it is meant to follow the key in a message.
core::Result<void> check_bcrypt_hash(std::string_view hash);

}  // namespace rdma_exporter::config
