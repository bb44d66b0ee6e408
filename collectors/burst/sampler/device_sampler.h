// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>

#include "collectors/burst/sampler/pace.h"
#include "collectors/burst/sampler/reader.h"
#include "collectors/settings.h"
#include "host/fs/attr_files.h"
#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::collectors {

/// Tells whether a read that a thread has begun is overdue: by more than ten windows and more than one
/// second.
class ReadWatch {
 public:
  void begin(BurstClock::time_point now, std::chrono::nanoseconds window);
  void end() { since_ = 0; }
  /// Thread-safe.
  bool hangs(BurstClock::time_point now) const;

 private:
  std::atomic<std::int64_t> since_{0};  ///< start of the read in ns of BurstClock; 0: no read is in progress
  std::atomic<std::int64_t> window_{0};
};

/// Samples the ports of one device. turn() is called by one thread at a time; everything else is thread-safe.
class DeviceSampler {
 public:
  /// `host` outlives it. `threads` is the number of samplers that share the CPU time.
  DeviceSampler(host::Host& host, const std::shared_ptr<const host::Device>& device,
                const BurstSettings& settings, std::shared_ptr<const std::atomic<unsigned>> threads,
                BurstTime time = {});

  /// Reads what is due and returns when to call again. `first`: it has not been called for a while.
  BurstClock::time_point turn(bool first);

  bool hangs(BurstClock::time_point now) const { return watch_.hangs(now); }

  struct Port {
    Port(host::Host& host, const host::Device& device, std::uint32_t port);
    std::uint32_t number;
    host::AttrFiles files;  ///< ports/N
    bool ready = false;     ///< ACTIVE, and its rate is known
    std::vector<std::unique_ptr<BurstReader>> readers;
  };
  /// The ports and their readers do not change; of the readers, only source() is thread-safe.
  const std::deque<Port>& ports() const { return ports_; }

  /// Time between two checks of the state and rate of a port.
  static constexpr std::chrono::seconds kLook{1};
  /// Time between two searches for counters on a port that has none.
  static constexpr std::chrono::seconds kIdle{5};

 private:
  void look(Port& port);
  bool read(Port& port);
  std::optional<double> rate(Port& port);

  const BurstSettings settings_;
  const std::shared_ptr<const std::atomic<unsigned>> threads_;
  const BurstTime time_;
  std::deque<Port> ports_;
  Pace pace_;
  Tick tick_;
  BurstClock::time_point next_look_{};
  ReadWatch watch_;
};

}  // namespace rdma_exporter::collectors
