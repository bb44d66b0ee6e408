// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

namespace rdma_exporter::web {

/// Whether `hash` (bcrypt, as config::check_bcrypt_hash() takes it) is that of `password`. Takes as long as
/// the hash's cost says, 70 ms for 10 and twice that for each one more: never on the io thread. As bcrypt has
/// it, only the first 72 bytes of the password count.
bool bcrypt_matches(const std::string& password, const std::string& hash);

}  // namespace rdma_exporter::web
