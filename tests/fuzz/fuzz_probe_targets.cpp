// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Any bytes as a list of targets. An accepted list is within the limits, and each address survives formatting
// and parsing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "discovery/target_list.h"
#include "tests/fuzz/check.h"

using namespace rdma_exporter;
using fuzz::check;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto list = discovery::parse_target_list(text);
  if (!list) {
    const bool named = list.error().kind == core::Errc::too_long || !list.error().context.empty();
    check(named, "a refusal says why");
    return 0;
  }
  for (const auto& group : *list) {
    for (const auto& address : group.targets) {
      check(!address.host.empty() && address.host.size() <= 253, "a host");
      std::string written =
          address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
      if (address.port != 0) written += ":" + std::to_string(address.port);
      const auto again = discovery::parse_address(written);
      check(again.has_value() && *again == address, "read again as the same");
    }
    for (const auto& [name, value] : group.labels)
      check(name.size() <= 1024 && value.size() <= 1024, "short labels");
  }
  return 0;
}
