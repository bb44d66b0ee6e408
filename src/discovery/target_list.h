// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "http/client/address.h"

namespace rdma_exporter::discovery {

using http::Address;
using http::parse_address;

/// Peers with the same labels, as Prometheus' service discovery has them.
struct TargetGroup {
  std::vector<Address> targets{};
  std::map<std::string, std::string, std::less<>> labels{};
  bool operator==(const TargetGroup&) const = default;
};

using TargetList = std::vector<TargetGroup>;

inline constexpr std::size_t kMaxListBytes = 16U << 20U;
inline constexpr std::size_t kMaxListTargets = 100'000;

/// Reads the JSON of Prometheus' file_sd and http_sd: [{"targets": ["host:port"], "labels": {"name":
/// "value"}}]. Strict, as Prometheus is: another key, another type or an address that is none makes the whole
/// list bad. It is taken whole or not at all, because hosts that see different lists choose peers that do not
/// fit together. Bounded by the constants above; nothing is kept of what nests deeper. Errc::parse with what
/// is wrong, or Errc::too_long.
core::Result<TargetList> parse_target_list(std::string_view json);

}  // namespace rdma_exporter::discovery
