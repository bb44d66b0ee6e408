// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exposition/format.h"
#include "core/result.h"

namespace rdma_exporter::web {

/// The collectors that a scrape asks for, with the parameters of node_exporter; both empty: all.
struct CollectorFilter {
  std::vector<std::string> collect;  ///< only these
  std::vector<std::string> exclude;  ///< all but these; not together with `collect`
};

/// What a client wants.
struct MetricsRequest {
  core::Format format = core::Format::text;
  bool gzip = false;  ///< the client accepts a compressed page
  CollectorFilter filter = {};
};

/// What the routes need from the exporter. All calls come on the io thread and must not block it.
class MetricsSource {
 public:
  using Page = std::shared_ptr<const core::Page>;
  using Answer = std::function<void(core::Result<Page>)>;

  virtual ~MetricsSource();

  /// Collects, and calls `answer` exactly once on the io thread, now or later, but not much after `deadline`:
  /// the connection waits for it without a limit of its own. An error is a message for the client about its
  /// filter (400); a null page means that there is no room for it (503). If it throws, there is no answer.
  virtual void metrics(const MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
                       Answer answer) = 0;

  /// Bytes of pages that have to go before there is room for another one; 0: there is room.
  virtual std::size_t missing_room() const { return 0; }

  /// Whether a scrape would be served now.
  virtual bool ready() const = 0;

  using ReloadAnswer = std::function<void(const core::Result<void>&)>;
  /// Reloads the configuration, and calls `answer` once on the io thread. The error is a message for a
  /// person; the previous configuration then stays in use.
  virtual void reload(ReloadAnswer answer) = 0;

  /// A page about the host, for people or scripts.
  enum class HostPage : unsigned char {
    view,    ///< "/", which refreshes itself
    report,  ///< "/report", to be saved
    probe,   ///< "/probe", JSON: every session of the probe
  };
  using HostPageAnswer = std::function<void(std::shared_ptr<const core::Page>)>;
  /// Makes it from the last collection, without reading anything, and calls `answer` once on the io thread,
  /// now or later; with null if there is no room for it (503).
  virtual void host_page(HostPage kind, HostPageAnswer answer) = 0;
};

}  // namespace rdma_exporter::web
