// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

namespace rdma_exporter::test {

/// While it exists, allocations with `new` fail: after `granted` of them, in whichever thread, the next
/// `failing` ones throw std::bad_alloc. One at a time; the binary has to contain failing_new.cpp.
class FailingNew {
 public:
  explicit FailingNew(long granted, long failing = 1);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  /// Whether one has failed.
  bool happened() const;
};

}  // namespace rdma_exporter::test
