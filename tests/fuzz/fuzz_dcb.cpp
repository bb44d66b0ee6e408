// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as a DCB answer. The APP table is sorted, without duplicates, and no longer than the input
// allows; rejected input is a parse error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/netlink/dcb.h"
#include "host/netlink/netlink_attr.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes answer = std::as_bytes(std::span(data, size));
  const auto ieee = host::dcb::parse_ieee(answer);
  if (!ieee) {
    check(ieee.error().kind == core::Errc::parse, "a parse error");
    return 0;
  }
  const auto& apps = ieee->apps;
  check(apps.size() * (sizeof(nlattr) + 4) <= size, "no more entries than fit");
  check(std::adjacent_find(apps.begin(), apps.end(), [](const auto& a, const auto& b) { return !(a < b); }) ==
            apps.end(),
        "sorted, each once");
  for (const auto& app : apps) host::dcb::selector_name(app.selector);
  if (ieee->ets)
    for (const std::uint8_t tsa : ieee->ets->tsa) check(!host::dcb::tsa_name(tsa).empty(), "a name");
  check(size < 136 ? !ieee->pfc : true, "struct ieee_pfc fits");
  return 0;
}
