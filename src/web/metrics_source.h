// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/exposition/page.h"
#include "core/result.h"

namespace rdma_exporter::web {

/// Which collectors a scrape asks for, as node_exporter has it; both empty: all.
struct CollectorFilter {
  std::vector<std::string> collect;  ///< only these
  std::vector<std::string> exclude;  ///< all but these; not together with `collect`
};

/// What a client wants to have.
struct MetricsRequest {
  core::Format format = core::Format::text;
  bool gzip = false;  ///< the client can take a compressed page
  CollectorFilter filter = {};
};

/// What the routes need of the exporter. Every call comes on the io thread and must not block it.
class MetricsSource {
 public:
  using Page = std::shared_ptr<const core::Page>;
  using Answer = std::function<void(core::Result<Page>)>;

  virtual ~MetricsSource();

  /// Collects, and calls `answer` exactly once, on the io thread, at once or later but not after `deadline`
  /// by much: the connection waits for it without a limit of its own. An error is a message for the client
  /// whose filter it is about (400), a null page means that there is no room for one (503). Where it throws,
  /// there is no answer.
  virtual void metrics(const MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
                       Answer answer) = 0;

  /// Bytes of pages that have to go before there is room for another one; 0: there is.
  virtual std::size_t missing_room() const { return 0; }

  /// Whether a scrape would be served now.
  virtual bool ready() const = 0;

  using ReloadAnswer = std::function<void(const core::Result<void>&)>;
  /// Loads the configuration anew, and calls `answer` once, on the io thread. The error is a message for a
  /// person; the old configuration is then still served.
  virtual void reload(ReloadAnswer answer) = 0;

  /// The HTML of "/"; touches no device.
  virtual std::string landing_page() const = 0;
};

}  // namespace rdma_exporter::web
