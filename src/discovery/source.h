// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <optional>
#include <vector>

#include "core/result.h"
#include "discovery/target_list.h"

namespace rdma_exporter::discovery {

/// What one look at a source brought.
struct Reading {
  std::optional<TargetList> targets{};  ///< nullopt: what was known before stands
  std::vector<core::Error> problems{};
};

/// Where targets come from. Used by one thread.
class Source {
 public:
  virtual ~Source() = default;
  /// Blocks for as long as the source likes to.
  virtual Reading read() = 0;
  /// Readable when there may be something new before the time for it has come; negative: it never tells.
  virtual int change_fd() const { return -1; }
};

}  // namespace rdma_exporter::discovery
