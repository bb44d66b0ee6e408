// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace rdma_exporter::core {

/// A list of names, shared: see intern().
using Names = std::shared_ptr<const std::vector<std::string>>;

}  // namespace rdma_exporter::core
