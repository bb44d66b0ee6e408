// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace rdma_exporter::core {

/// A list of names. Never null where it comes from intern().
using Names = std::shared_ptr<const std::vector<std::string>>;

/// The one shared copy of a list of names: the devices of a host have the same counters, and a hundred
/// devices would keep a hundred copies. Thread-safe; a list that nobody uses any more is forgotten.
Names intern(std::vector<std::string> names);

}  // namespace rdma_exporter::core
