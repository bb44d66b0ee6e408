// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as an answer of devlink. Rejected input is a parse error; accepted objects have names, and there
// are no more of them than the input allows; removing serial numbers does not change the versions.
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/netlink/devlink.h"
#include "tests/fuzz/check.h"

namespace {

using namespace rdma_exporter;
using namespace rdma_exporter::host::devlink;
using fuzz::check;

template <typename T>
const core::Result<T>& checked(const core::Result<T>& result) {
  if (!result) check(result.error().kind == core::Errc::parse, "a parse error");
  return result;
}

void check_info(host::Bytes answer) {
  const auto versions = checked(parse_info(answer));
  const auto without = without_serials(answer);
  check(without.size() == answer.size(), "an answer without serial numbers is as long");
  if (!versions) return;
  for (const Version& version : *versions) {
    check(!version.component.empty(), "a version is of a component");
    check(version.running.size() + version.stored.size() < answer.size(), "no more text than fits");
  }
  const auto again = parse_info(without);
  check(again && again->size() == versions->size(), "an answer without serial numbers has the same versions");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const host::Bytes answer = std::as_bytes(std::span(data, size));
  if (const auto reporter = checked(parse_reporter(answer)))
    check(!reporter->name.empty() && reporter->name.size() < size, "a reporter has a name that fits");
  if (const auto port = checked(parse_port(answer))) check(port->netdev.size() < size, "a name that fits");
  check_info(answer);
  return 0;
}
