// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/result.h"
#include "probe/agent/options.h"
#include "probe/stats/registry.h"

namespace rdma_exporter::probe {

class Control;

/// The probe of this host: prober and responder. Until it is configured it has no threads and opens no
/// device. Call configure() and stop() from one thread; add() from any.
///
/// Its threads: one for TCP and decisions, which never blocks; one for each device, which spins; those
/// of Workers, for calls that the kernel may hold.
class Agent {
 public:
  /// `preset_class`: for sessions without a configured traffic class; called on any thread. Empty: no port
  /// has one.
  explicit Agent(PresetClass preset_class);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Checks what can be checked without starting anything, such as files. May read files.
  static core::Result<void> check(const AgentOptions& options);

  /// Starts, changes or stops the probe. Sessions that are not affected continue. Waits until the responder
  /// listens, but not for devices. On error everything stays as it was.
  core::Result<void> configure(const AgentOptions& options);

  /// Releases everything. False if threads are still in the kernel at `deadline`: the process should then end
  /// without running destructors.
  bool stop(std::chrono::steady_clock::time_point deadline);

  /// Adds the current metrics; none while the probe is not configured. Does not block.
  void add(core::SampleBatch& out) const { registry_->add(out); }

  /// Returns a function that makes the JSON document of all sessions at this moment. It may be called on any
  /// thread, even after this agent has been destroyed.
  std::function<std::string()> sessions() const;

 private:
  const PresetClass preset_class_;
  std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
  std::shared_ptr<Control> control_;
};

}  // namespace rdma_exporter::probe
