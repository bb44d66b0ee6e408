// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/sample_batch.h"
#include "discovery/sources.h"
#include "probe/rdma/nic.h"
#include "probe/stats/target_stats.h"

namespace rdma_exporter::probe {

/// What scrapes see of the probe. The agent publishes, scrapes read; neither waits for the other longer than
/// a copy takes.
class Registry {
 public:
  /// A flow to a target, or the sum of all rotating ones (empty target).
  struct Series {
    std::string device;
    std::uint8_t port = 1;
    std::string target;
    unsigned flow = 0;
    std::shared_ptr<TargetStats> stats;
  };
  /// A target, or all targets of a group (empty target).
  struct RttSeries {
    std::string device;
    std::uint8_t port = 1;
    std::string target;
    std::string group;
    TargetStats::Histograms histograms;
  };
  /// The place of a permanent target, from discovery.
  struct Place {
    std::string device;
    std::uint8_t port = 1;
    std::string target;
    std::string group;
    std::string leaf;
    std::string rail;
  };
  struct Contents {
    bool active = false;  ///< the probe is configured
    std::vector<Series> series{};
    std::vector<Series> rotating{};  ///< each session, because these have no metrics of their own
    std::vector<RttSeries> rtts{};
    std::vector<Place> places{};  ///< of targets with a known place
    std::vector<std::shared_ptr<NicStats>> nics{};
    unsigned queue_pairs_limit = 0;
    std::uint64_t active_targets = 0;
    std::uint64_t dropped_targets = 0;
    std::optional<bool>
        mesh_member{};  ///< whether the list of the mesh has this host; not known yet: nothing
    bool responder = false;
    std::map<std::string_view, std::uint64_t> refused{};  ///< connections to the responder, by reason
    std::size_t suspended = 0;                            ///< sessions of peers without a control connection
    std::vector<discovery::SourceStatus> sources{};
  };

  void publish(Contents contents);
  /// What changes independently; publish() does not touch it.
  void publish_inbound(std::map<std::string_view, std::uint64_t> refused, std::size_t suspended);
  void publish_sources(std::vector<discovery::SourceStatus> sources);

  /// What was published last. Any thread.
  Contents contents() const;
  /// Any thread.
  void add(core::SampleBatch& out) const;
  static std::vector<const core::MetricDesc*> families();

 private:
  mutable std::mutex mutex_;
  Contents contents_;
};

}  // namespace rdma_exporter::probe
