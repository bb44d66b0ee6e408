// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "host/host.h"
#include "record/answer.h"

namespace rdma_exporter::record {

/// Takes down questions and answers. Thread-safe.
class Tape {
 public:
  /// A later answer replaces an earlier one, unless it only failed for being longer than its reader expected.
  void note(std::string question, Answer answer);
  /// What was noted since the last call.
  Snapshot take();

 private:
  std::mutex mutex_;
  Snapshot noted_;
};

/// A host whose seams ask `live`, and note everything on `tape`; both outlive it. It has no events.
host::Host recording_host(host::Host& live, Tape& tape);

}  // namespace rdma_exporter::record
