// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "discovery/http_source.h"

#include "discovery/target_list.h"
#include "http/client/client.h"

namespace rdma_exporter::discovery {
namespace {

constexpr std::chrono::seconds kTime{10};

}  // namespace

core::Result<std::string> fetch(const http::Url& url, const std::string& authority_file,
                                std::chrono::milliseconds time, std::chrono::seconds refresh) {
  http::ClientRequest request;
  request.headers = {{"Accept", "application/json"},
                     {"X-Prometheus-Refresh-Interval-Seconds", std::to_string(refresh.count())}};
  request.most_bytes = kMaxListBytes;
  auto answer = http::ask(url, {.authority_file = authority_file}, request, time);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (answer->status != 200) return core::parse_error("returned status " + std::to_string(answer->status));
  return std::move(answer->body);
}

Reading HttpSource::read() {
  auto list = fetch(url_, authority_file_, kTime, refresh_).and_then(parse_target_list);
  if (list) return {std::move(*list), {}};
  return {std::nullopt, {std::move(list.error())}};
}

}  // namespace rdma_exporter::discovery
