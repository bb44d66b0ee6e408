// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

namespace rdma_exporter::web {

/// Whether `hash` (bcrypt, in the form that config::parse_web_file() accepts) is that of `password`. Takes
/// as long as the cost of the hash says, 70 ms for 10 and twice as long for each further one: never call it
/// on the io thread. As defined by bcrypt, only the first 72 bytes of the password count.
bool bcrypt_matches(const std::string& password, const std::string& hash);

}  // namespace rdma_exporter::web
