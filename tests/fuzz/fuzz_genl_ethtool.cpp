// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as an answer of ethtool's generic netlink family. Counters have names, and there are no more of
// them than the input allows; rejected input is a parse error; requests contain the given interface name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "host/ethtool/ethernet_link.h"
#include "host/ethtool/genl_ethtool.h"
#include "host/netlink/generic_netlink.h"
#include "host/netlink/netlink_attr.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using namespace rdma_exporter::host::genl_ethtool;
using fuzz::check;

template <typename T>
void check_error(const core::Result<T>& result) {
  if (!result) check(result.error().kind == core::Errc::parse, "a parse error");
}

// Hands the answer to a parser and counts what it reports.
template <typename Parse>
auto parsed(host::Bytes answer, const Parse& parse) {
  std::size_t counters = 0;
  auto result = parse(answer, [&](std::size_t counter, std::uint64_t /*value*/) {
    check(counter < kCounterNames.size(), "a counter that has a name");
    ++counters;
  });
  check_error(result);
  check(counters * (sizeof(nlattr) + sizeof(std::uint32_t)) <= answer.size(), "no more counters than fit");
  return result;
}

void check_fec(host::Bytes answer) {
  const auto fec = parsed(answer, parse_fec);
  if (!fec) return;
  for (const auto* lanes : {&fec->corrected_blocks, &fec->uncorrectable_blocks, &fec->corrected_bits})
    check(lanes->size() <= Fec::kMaxLanes, "no more lanes than there are");
}

void check_link_state(host::Bytes answer) {
  const auto link = parsed(answer, parse_link_state);
  if (link) check(!link->extended_state.empty() || link->extended_substate.empty(), "no detail of nothing");
}

void check_request(host::Bytes name) {
  const std::string_view text(reinterpret_cast<const char*>(name.data()),
                              std::min<std::size_t>(name.size(), 16));
  const auto payload = request(Query::rings, text);
  bool found = false;
  const bool whole = host::for_each_attr(host::Bytes(payload).subspan(4), [&](const host::Attr& header) {
    host::for_each_attr(header.data, [&](const host::Attr& attr) {
      if (attr.type == 2) found = attr.text() == text.substr(0, text.find('\0'));
    });
  });
  check(whole && found, "a request names its interface");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes answer = std::as_bytes(std::span(data, size));
  check_error(host::generic_netlink::parse_family(answer));
  parsed(answer, parse_statistics);
  parsed(answer, parse_pause);
  check_fec(answer);
  check_link_state(answer);
  const auto speed = parse_speed(answer);
  if (speed && *speed) check(**speed > 0 && **speed < 1e15, "a speed that can be");
  check_error(speed);
  const auto fastest = parse_fastest_mode(answer);
  if (fastest && *fastest) check(**fastest >= 0 && **fastest < 1e15, "a speed that can be");
  check_error(fastest);
  check_error(parse_rings(answer));
  check_error(parse_module_high_power(answer));
  check_request(answer);
  return 0;
}
