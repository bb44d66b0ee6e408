// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::http {

enum class Method : unsigned char { get, head, post, other };

/// The parts of a request that the routes need. The strings are reused from one request of a connection to
/// the next.
struct Request {
  Method method = Method::get;
  std::string target;                ///< as sent: may have a query, may be in absolute form
  std::string scrape_timeout;        ///< value of X-Prometheus-Scrape-Timeout-Seconds, empty if absent
  std::string accept = {};           ///< value of Accept; several headers are joined with commas
  std::string accept_encoding = {};  ///< value of Accept-Encoding, likewise
  std::string authorization = {};    ///< value of the (first) Authorization header, empty if absent

  /// The path of the target, without scheme, authority and query: "/metrics".
  std::string_view path() const;
  /// The part of the target after the first '?', without a fragment; empty if there is none.
  std::string_view query() const;
};

}  // namespace rdma_exporter::http
