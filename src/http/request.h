// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <string_view>

namespace rdma_exporter::http {

enum class Method : unsigned char { get, head, post, other };

/// What the routes need of a request. The strings are reused from one request of a connection to the next.
struct Request {
  Method method = Method::get;
  std::string target;                ///< as sent: may carry a query, may be in absolute form
  std::string scrape_timeout;        ///< value of X-Prometheus-Scrape-Timeout-Seconds, empty when absent
  std::string accept = {};           ///< value of Accept; several of them are joined by commas
  std::string accept_encoding = {};  ///< the same of Accept-Encoding
  std::string authorization = {};    ///< value of the (first) header Authorization, empty when absent

  /// The path of the target, without scheme, authority and query: "/metrics".
  std::string_view path() const;
  /// What follows the first '?' of the target, without a fragment; empty where there is none.
  std::string_view query() const;
};

}  // namespace rdma_exporter::http
