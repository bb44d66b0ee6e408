// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "net/metrics_source.h"
#include "net/request.h"
#include "net/response.h"
#include "net/scrape_time.h"

namespace rdma_exporter::net {

struct RouteOptions {
  std::string telemetry_path = "/metrics";  ///< begins with '/', and wins when it is also the path of a page
  Timeouts timeouts = {};
  bool lifecycle = false;  ///< POST /-/reload is served
};

/// From a request to a response. Knows nothing of sockets. Runs on the io thread.
class Routes {
 public:
  using Answer = std::function<void(Response)>;

  /// `source` outlives the routes.
  Routes(MetricsSource& source, RouteOptions options) : source_(source), options_(std::move(options)) {}
  /// For the requests from now on.
  void configure(RouteOptions options) { options_ = std::move(options); }

  /// Calls `answer` exactly once: at once, or for metrics whenever the source answers. `request` is not used
  /// after the return. A HEAD is answered as its GET; the caller leaves the body out.
  void handle(const Request& request, Answer answer);

  /// Bytes of pages that have to go before the one that `request` asks for can be made.
  std::size_t missing_room(const Request& request) const;

 private:
  void metrics(const Request& request, Answer answer);
  void reload(const Request& request, Answer answer);

  MetricsSource& source_;
  RouteOptions options_;
};

}  // namespace rdma_exporter::net
