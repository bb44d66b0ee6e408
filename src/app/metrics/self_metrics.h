// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "app/metrics/process_metrics.h"
#include "app/process_state.h"
#include "core/metric.h"
#include "core/policy.h"
#include "core/sample_batch.h"
#include "host/fs/fd.h"
#include "record/player.h"

namespace rdma_exporter::app {

/// What is not of a job: build, recording, reloads, HTTP, kept files, process; and what the probe has
/// measured. One thread at a time.
class SelfMetrics {
 public:
  /// `recording`: path of the replayed recording, empty when this host is served; `player`: plays it, nullptr
  /// for a directory. `to_file`: the metrics go to the text file of another exporter, which has process_*
  /// metrics of its own: without ours and HTTP's. `selection`: its set applies to the probe's families.
  SelfMetrics(const ProcessState& state, const host::OpenFileBudget& open_files, const std::string& recording,
              std::shared_ptr<const record::Player> player, bool to_file,
              const core::FamilySelection& selection);
  void add(core::SampleBatch& out);

 private:
  const ProcessState& state_;
  const host::OpenFileBudget& open_files_;
  std::string build_labels_;
  std::string recording_labels_;
  /// In the order in which HTTP's counts are visited.
  std::vector<std::string> refusal_labels_;
  std::vector<std::string> refused_request_labels_;
  const std::shared_ptr<const record::Player> player_;
  bool to_file_;
  std::set<const core::MetricDesc*> left_out_;  ///< of the probe's families
  ProcessMetrics process_;
};

std::vector<const core::MetricDesc*> self_families();

}  // namespace rdma_exporter::app
