// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// What is probed: a target, from one own port.
struct Path {
  std::string device;  ///< own
  std::uint8_t port = 1;
  std::string target;  ///< its name
  bool operator==(const Path&) const = default;
  auto operator<=>(const Path&) const = default;
};

/// Is told of everything as it happens, for who wants more than counts. Called by several threads, which must
/// not be kept: they measure.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `path` is probed from now on.
  virtual void begins(const Path& path) = 0;
  /// Every device that was there has been opened, or not: paths that begin later come of devices or ports
  /// that come up later. May be called again.
  virtual void settled() = 0;
  virtual void success(const Path& path, Op op, const Completion& completion) = 0;
  virtual void failure(const Path& path, Op op, const Failure& failure) = 0;
  /// One of the flows has found a peer that takes no one-sided operation: from now on it has only echoes.
  virtual void only_echoes(const Path& path) = 0;
};

}  // namespace rdma_exporter::probe
