// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "probe/session/operation.h"

namespace rdma_exporter::probe {

/// What is probed: a target, from one local port, over one flow.
struct Path {
  std::string device;  ///< own
  std::uint8_t port = 1;
  std::string target;  ///< its name
  unsigned flow = 0;
  bool operator==(const Path&) const = default;
  auto operator<=>(const Path&) const = default;
};

/// Receives every event as it happens, for callers that need more than counts. Called on several threads,
/// which measure and must not be delayed.
class Observer {
 public:
  virtual ~Observer() = default;
  /// `path` is being probed from now on.
  virtual void begins(const Path& path) = 0;
  /// Opening of each existing device has succeeded or failed: paths that begin later belong to devices or
  /// ports that come up later. May be called again.
  virtual void settled() = 0;
  /// The mesh's list has been read: its number of entries, and whether this host is one of them.
  virtual void mesh(std::size_t /*entries*/, bool /*member*/) {}
  virtual void success(const Path& path, Op op, const Completion& completion) = 0;
  /// Also for probes that a failing control connection kept from being sent.
  virtual void failure(const Path& path, Op op, const Failure& failure) = 0;
  /// The peer accepts no one-sided operation: from now on there are only echoes.
  virtual void only_echoes(const Path& path) = 0;
};

}  // namespace rdma_exporter::probe
