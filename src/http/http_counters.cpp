// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/http_counters.h"

#include <bit>

namespace rdma_exporter::http {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, kRefusals> kRefusalNames{
    "connection_limit", "displaced", "accept_error", "tls_handshake", "tls_timeout"};
constexpr std::array<std::string_view, kRefusedRequests> kRefusedRequestNames{
    "malformed",         "header_size",    "body_size",     "expectation",
    "header_timeout",    "body_timeout",   "write_timeout", "no_credentials",
    "wrong_credentials", "password_queue", "rate_limit",    "memory"};

}  // namespace

HttpCounters::HttpCounters() {
  for (const unsigned status : {200U, 500U, 503U}) show(status - kFirstStatus);
}

void HttpCounters::show(unsigned index) {
  shown_.at(index / kBits).fetch_or(std::uint64_t{1} << index % kBits, std::memory_order_relaxed);
}

void HttpCounters::count(unsigned status) {
  if (status < kFirstStatus || status >= kFirstStatus + kStatuses) status = 500;
  const unsigned index = status - kFirstStatus;
  if (statuses_[index].fetch_add(1, std::memory_order_relaxed) == 0) show(index);
}

void HttpCounters::count(Refusal reason) {
  refusals_[static_cast<unsigned>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void HttpCounters::count(RefusedRequest reason) {
  refused_requests_[static_cast<unsigned>(reason)].fetch_add(1, std::memory_order_relaxed);
}

void HttpCounters::count_web_config(bool good) {
  last_web_config_.store(good ? LastRead::good : LastRead::bad, std::memory_order_relaxed);
  if (!good) web_config_failures_.fetch_add(1, std::memory_order_relaxed);
}

void HttpCounters::for_each_status(const std::function<void(unsigned, std::uint64_t)>& visit) const {
  for (unsigned word = 0; word < shown_.size(); ++word) {
    for (std::uint64_t bits = shown_[word].load(std::memory_order_relaxed); bits != 0; bits &= bits - 1) {
      const unsigned index = word * kBits + static_cast<unsigned>(std::countr_zero(bits));
      visit(kFirstStatus + index, statuses_[index].load(std::memory_order_relaxed));
    }
  }
}

void HttpCounters::for_each_refusal(const VisitReason& visit) const {
  for (unsigned i = 0; i < kRefusals; ++i)
    visit(kRefusalNames[i], refusals_[i].load(std::memory_order_relaxed));
}

void HttpCounters::for_each_refused_request(const VisitReason& visit) const {
  for (unsigned i = 0; i < kRefusedRequests; ++i)
    visit(kRefusedRequestNames[i], refused_requests_[i].load(std::memory_order_relaxed));
}

std::optional<HttpCounters::WebConfigReads> HttpCounters::web_config() const {
  const LastRead last = last_web_config_.load(std::memory_order_relaxed);
  if (last == LastRead::none) return std::nullopt;
  return WebConfigReads{last == LastRead::good, web_config_failures_.load(std::memory_order_relaxed)};
}

}  // namespace rdma_exporter::http
