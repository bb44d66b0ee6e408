// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "core/result.h"
#include "probe/agent/options.h"
#include "probe/stats/registry.h"

namespace rdma_exporter::probe {

class Control;

/// The probe of this host: prober and responder. Until it is configured it has no thread and opens no device.
/// configure() and stop() by one thread; add() by any.
///
/// Its threads: one for TCP and decisions, which never blocks; one for each device, which spins; four for
/// calls that the kernel may hold.
class Agent {
 public:
  Agent();
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// What can be told without starting anything: whether files are good. May read files.
  static core::Result<void> check(const AgentOptions& options);

  /// Starts, changes or ends it. Sessions that are not concerned go on. Waits until the responder listens,
  /// not for devices. On error everything stays as it was.
  core::Result<void> configure(const AgentOptions& options);

  /// Gives everything back. False when threads are still inside the kernel at `deadline`: then the process
  /// should end without destructors.
  bool stop(std::chrono::steady_clock::time_point deadline);

  /// The metrics of now; none while it is not configured. Waits for nobody.
  void add(core::SampleBatch& out) const { registry_->add(out); }

 private:
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
  std::shared_ptr<Control> control_;
};

}  // namespace rdma_exporter::probe
