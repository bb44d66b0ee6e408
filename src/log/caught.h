// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <exception>
#include <string_view>

namespace rdma_exporter::log {

/// An error, from a handler of exceptions: never throws itself, and says nothing where there is no memory for
/// the line.
void caught(std::string_view message, const std::exception& exception) noexcept;

}  // namespace rdma_exporter::log
