// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <functional>
#include <string>

#include "net/metrics_source.h"
#include "net/request.h"
#include "net/response.h"
#include "net/scrape_time.h"

namespace rdma_exporter::net {

/// From a request to a response. Knows nothing of sockets. Runs on the io thread.
class Routes {
 public:
  using Answer = std::function<void(Response)>;

  /// `source` outlives the routes. `telemetry_path` begins with '/', and wins when it is also the path of a
  /// page.
  Routes(MetricsSource& source, std::string telemetry_path, Timeouts timeouts);

  /// Calls `answer` exactly once: at once, or for metrics whenever the source answers. `request` is not used
  /// after the return. A HEAD is answered as its GET; the caller leaves the body out.
  void handle(const Request& request, Answer answer);

 private:
  void metrics(const Request& request, Answer answer);

  MetricsSource& source_;
  std::string telemetry_path_;
  Timeouts timeouts_;
};

}  // namespace rdma_exporter::net
