// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "http/handler.h"
#include "web/metrics_source.h"
#include "web/scrape_request.h"

namespace rdma_exporter::web {

struct RouteOptions {
  std::string telemetry_path = "/metrics";  ///< begins with '/', and wins when it is also the path of a page
  Timeouts timeouts = {};
  bool lifecycle = false;  ///< POST /-/reload is served
};

/// From a request to a response. Knows nothing of sockets. Runs on the io thread.
class Routes final : public http::Handler {
 public:
  /// `source` outlives the routes.
  Routes(MetricsSource& source, RouteOptions options) : source_(source), options_(std::move(options)) {}
  /// For the requests from now on.
  void configure(RouteOptions options) { options_ = std::move(options); }

  /// At once, or for metrics whenever the source answers.
  void handle(const http::Request& request, Answer answer) override;
  std::size_t missing_room(const http::Request& request) const override;

 private:
  void metrics(const http::Request& request, Answer answer);
  void reload(const http::Request& request, Answer answer);
  void host_page(MetricsSource::HostPage kind, Answer answer);

  MetricsSource& source_;
  RouteOptions options_;
};

}  // namespace rdma_exporter::web
