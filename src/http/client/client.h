// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "http/client/address.h"

namespace rdma_exporter::http {

/// How a server's certificate is verified, and which certificate is shown to it. Files are in PEM format.
struct ClientTls {
  std::string authority_file{};    ///< empty: the CAs that the host trusts
  std::string certificate_file{};  ///< empty: none
  std::string key_file{};
  std::string server_name{};  ///< the name that the certificate has to have; empty: the host of the URL
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct ClientRequest {
  std::string_view method = "GET";
  Headers headers{};  ///< in addition to Host, User-Agent, Connection and Content-Length; without line breaks
  std::string body{};
  std::size_t max_bytes = 0;  ///< maximum size of the response body
};

struct ClientAnswer {
  unsigned status = 0;
  std::string content_type;
  std::string body;
};

/// Sends one request on a connection of its own, within `time` (not counting the resolver). With HTTPS the
/// server's certificate is verified. Follows no redirects and uses no proxy. Any status is an answer. The
/// context of an error is the step that failed; it contains no header. Thread-safe.
core::Result<ClientAnswer> ask(const Url& url, const ClientTls& tls, const ClientRequest& request,
                               std::chrono::milliseconds time);

/// The value of an Authorization header (RFC 7617).
std::string basic_authorization(std::string_view user, std::string_view password);

}  // namespace rdma_exporter::http
