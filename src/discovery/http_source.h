// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <string>

#include "discovery/source.h"
#include "http/client/url.h"

namespace rdma_exporter::discovery {

/// The body of an answer with status 200 to GET, of kMaxListBytes at most, within `time` (a name's resolver
/// aside). HTTPS: the server's certificate has to be of `authority_file` (empty: of one that the host trusts)
/// and for its name. No redirects, no proxy.
core::Result<std::string> fetch(const http::Url& url, const std::string& authority_file,
                                std::chrono::milliseconds time, std::chrono::seconds refresh);

/// Prometheus' http_sd.
class HttpSource final : public Source {
 public:
  HttpSource(http::Url url, std::string authority_file, std::chrono::seconds refresh)
      : url_(std::move(url)), authority_file_(std::move(authority_file)), refresh_(refresh) {}
  Reading read() override;

 private:
  const http::Url url_;
  const std::string authority_file_;
  const std::chrono::seconds refresh_;
};

}  // namespace rdma_exporter::discovery
