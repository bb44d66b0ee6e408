// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>
#include <string>
#include <vector>

namespace rdma_exporter {

struct CollectableOptions {
  /// A configuration file as the daemon's; empty: the defaults.
  std::string config_file = {};
  /// Flags as the daemon's, which win over the file: {"--path.sysfs=/host/sys", "--no-collector.resource"}.
  /// What they say of a web server, a text file or the probe has no effect.
  std::vector<std::string> flags = {};
};

/// The RDMA metrics of this host for a program that serves its own by prometheus-cpp:
///
///     auto rdma = std::make_shared<rdma_exporter::Collectable>();
///     exposer.RegisterCollectable(rdma);
///
/// The collectors, the deadlines and the isolation are the daemon's: a device that hangs costs its own
/// series, and Collect() returns within `scrape.timeout` (default 8 s) also when a read is stuck in the
/// kernel. Has threads of its own, which take no signals; logs to standard error as the flags say. Nothing is
/// read between two calls but events. Not to be used across a fork().
class __attribute__((visibility("default"))) Collectable final : public prometheus::Collectable {
 public:
  /// Throws std::invalid_argument with a message for a person when the options make no sense on this host.
  explicit Collectable(const CollectableOptions& options = {});
  /// Waits up to 300 ms for reads that go on. One that is stuck in the kernel keeps its thread and its
  /// memory.
  ~Collectable() override;
  Collectable(const Collectable&) = delete;
  Collectable& operator=(const Collectable&) = delete;

  /// What the daemon would serve now, but for what is about its own process, web server and reloads:
  /// process_*, rdma_exporter_http_*, rdma_exporter_config_*. Calls at the same time share one collection.
  /// Any thread.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rdma_exporter
