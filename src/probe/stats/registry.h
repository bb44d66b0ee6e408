// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/sample_batch.h"
#include "discovery/sources.h"
#include "probe/rdma/nic.h"
#include "probe/stats/target_stats.h"

namespace rdma_exporter::probe {

/// What a scrape sees of the probe. The agent publishes, scrapes take what is there: neither waits for the
/// other longer than it takes to copy.
class Registry {
 public:
  /// Of a target, or the sum of all that rotate (target empty).
  struct Series {
    std::string device;
    std::uint8_t port = 1;
    std::string target;
    std::shared_ptr<TargetStats> stats;
  };
  /// Of a target, or of all targets of a group (target empty).
  struct RttSeries {
    std::string device;
    std::uint8_t port = 1;
    std::string target;
    std::string group;
    TargetStats::Histograms histograms;
  };
  struct Contents {
    bool active = false;  ///< the probe is configured
    std::vector<Series> series{};
    std::vector<RttSeries> rtts{};
    std::vector<std::shared_ptr<NicStats>> nics{};
    unsigned queue_pairs_limit = 0;
    std::uint64_t active_targets = 0;
    std::uint64_t dropped_targets = 0;
    bool responder = false;
    std::map<std::string_view, std::uint64_t> refused{};  ///< connections to the responder, by reason
    std::vector<discovery::SourceStatus> sources{};
  };

  void publish(Contents contents);
  /// What changes by itself; publish() leaves it.
  void publish_refused(std::map<std::string_view, std::uint64_t> refused);
  void publish_sources(std::vector<discovery::SourceStatus> sources);

  /// Any thread.
  void add(core::SampleBatch& out) const;
  static std::vector<const core::MetricDesc*> families();

 private:
  mutable std::mutex mutex_;
  Contents contents_;
};

}  // namespace rdma_exporter::probe
