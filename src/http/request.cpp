// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/request.h"

#include <algorithm>

namespace rdma_exporter::http {

std::string_view Request::path() const {
  std::string_view path = target;
  // A request sent through a proxy names the whole URL (RFC 9112, 3.2.2).
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!path.starts_with(scheme)) continue;
    path.remove_prefix(scheme.size());
    path.remove_prefix(std::min(path.find_first_of("/?"), path.size()));
    if (path.empty() || path.front() == '?') return "/";
    break;
  }
  return path.substr(0, path.find('?'));
}

std::string_view Request::query() const {
  const std::size_t mark = target.find('?');
  if (mark == std::string::npos) return {};
  const std::string_view query = std::string_view(target).substr(mark + 1);
  return query.substr(0, query.find('#'));
}

}  // namespace rdma_exporter::http
