// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "host/host.h"
#include "record/question.h"

namespace rdma_exporter::record {

/// Collects questions and answers. Thread-safe.
class Tape {
 public:
  /// A later answer replaces an earlier one, unless the later one failed only because it was longer than
  /// expected.
  void note(std::string question, Answer answer);
  /// What was recorded since the last call.
  Snapshot take();

 private:
  std::mutex mutex_;
  Snapshot noted_;
};

/// A host whose seams query `live` and record everything on `tape`; both must outlive it. It has no events.
host::Host recording_host(host::Host& live, Tape& tape);

}  // namespace rdma_exporter::record
