// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/http_counters.h"

#include <gtest/gtest.h>

#include <string>

#include "http/response.h"

namespace rdma_exporter::http {
namespace {

std::string statuses(const HttpCounters& counters) {
  std::string text;
  counters.for_each_status([&](unsigned status, std::uint64_t n) {
    text += std::to_string(status) + ":" + std::to_string(n) + " ";
  });
  return text;
}

TEST(HttpCounters, ShowsTheUsualStatusesFromTheStart) {
  EXPECT_EQ(statuses(HttpCounters()), "200:0 500:0 503:0 ");
}

TEST(HttpCounters, CountsWhatIsNoStatusAsAnErrorOfOurs) {
  HttpCounters counters;
  for (const unsigned status : {100U, 599U, 404U, 404U, 0U, 99U, 600U}) counters.count(status);
  EXPECT_EQ(statuses(counters), "100:1 200:0 404:2 500:3 503:0 599:1 ");
}

TEST(HttpCounters, CountsRefusedConnectionsByReason) {
  HttpCounters counters;
  counters.count(Refusal::accept_error);
  counters.count(Refusal::accept_error);
  std::string text;
  counters.for_each_refusal([&](std::string_view reason, std::uint64_t n) {
    text.append(reason) += "=" + std::to_string(n) + " ";
  });
  EXPECT_EQ(text, "connection_limit=0 displaced=0 accept_error=2 tls_handshake=0 tls_timeout=0 ");
}

TEST(HttpDateHeader, IsTheFormatOfTheStandardAndFollowsTheClock) {
  std::time_t now = 784111777;
  DateHeader date([&now] { return now; });
  EXPECT_EQ(date.line(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.line(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  now = 1767225599;
  EXPECT_EQ(date.line(), "Date: Wed, 31 Dec 2025 23:59:59 GMT\r\n");
  now = 784111777;  // the clock was set back
  EXPECT_EQ(date.line(), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
}

}  // namespace
}  // namespace rdma_exporter::http
