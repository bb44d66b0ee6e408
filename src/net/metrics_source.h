// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace rdma_exporter::net {

/// What the routes need of the exporter. Every call comes on the io thread and must not block it.
class MetricsSource {
 public:
  using Answer = std::function<void(std::shared_ptr<const std::string>)>;

  virtual ~MetricsSource();

  /// Collects, and calls `answer` exactly once, on the io thread, at once or later but not after `deadline`
  /// by much: the connection waits for it without a limit of its own. A null body means that nothing could be
  /// collected (500).
  virtual void metrics(std::chrono::steady_clock::time_point deadline, Answer answer) = 0;

  /// Whether a scrape would be served now.
  virtual bool ready() const = 0;

  /// The HTML of "/"; touches no device.
  virtual std::string landing_page() const = 0;
};

}  // namespace rdma_exporter::net
