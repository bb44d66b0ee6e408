// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "commands/tasks.h"
#include "config/client/http_client.h"
#include "fleet/table.h"
#include "http/client/client.h"
#include "task/background.h"

namespace rdma_exporter::commands {

/// Client of /api/v1/query on a Prometheus-compatible server; all queries use the same time.
class PrometheusApi {
 public:
  /// Reads the files that `client` names. The error is a message for the user, without secrets.
  static core::Result<PrometheusApi> make(const std::string& url, const config::HttpClient& client);

  /// Sends queries, a few at a time, and returns the answers in order. An answer that is missing at the
  /// deadline becomes an Answer with an error. Tasks stuck in the host's resolver are abandoned.
  std::vector<fleet::Answer> ask(const std::vector<fleet::Query>& queries, std::time_t at, Deadline deadline,
                                 task::Background& background) const;

 private:
  fleet::Answer ask_one(const fleet::Query& query, std::time_t at, Deadline deadline) const;

  http::Url url_;
  http::ClientTls tls_;
  http::Headers headers_;
};

}  // namespace rdma_exporter::commands
