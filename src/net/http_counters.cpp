// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/http_counters.h"

namespace rdma_exporter::net {

void HttpCounters::count(unsigned status) {
  if (status < kFirstStatus || status >= kFirstStatus + kStatuses) status = 500;
  statuses_[status - kFirstStatus].fetch_add(1, std::memory_order_relaxed);
}

void HttpCounters::count(Refusal reason) {
  refusals_[static_cast<unsigned>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void HttpCounters::for_each_status(const std::function<void(unsigned, std::uint64_t)>& visit) const {
  for (unsigned i = 0; i < kStatuses; ++i) {
    const unsigned status = kFirstStatus + i;
    const std::uint64_t requests = statuses_[i].load(std::memory_order_relaxed);
    if (requests > 0 || status == 200 || status == 500 || status == 503) visit(status, requests);
  }
}

void HttpCounters::for_each_refusal(const std::function<void(std::string_view, std::uint64_t)>& visit) const {
  visit("connection_limit", refusals_[0].load(std::memory_order_relaxed));
  visit("accept_error", refusals_[1].load(std::memory_order_relaxed));
}

}  // namespace rdma_exporter::net
