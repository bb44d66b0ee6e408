// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as an LLDP frame. Rejected input is a parse error; every text is printable and short; a
// neighbour's identity has both parts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/lldp/lldp.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using fuzz::check;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto neighbor = host::parse_lldp(std::as_bytes(std::span(data, size)));
  if (!neighbor) {
    check(neighbor.error().kind == core::Errc::parse, "a parse error");
    return 0;
  }
  for (const std::string* text : {&neighbor->chassis_id, &neighbor->port_id, &neighbor->port_description,
                                  &neighbor->system_name, &neighbor->management_address}) {
    check(text->size() <= host::LldpNeighbor::kMaxText, "short", *text);
    check(std::all_of(text->begin(), text->end(), [](char c) { return c >= ' ' && c <= '~'; }), "printable",
          *text);
  }
  check(neighbor->ttl >= std::chrono::seconds(0) && neighbor->ttl <= std::chrono::seconds(65535), "16 bits");
  check(neighbor->is_same(*neighbor), "itself");
  return 0;
}
