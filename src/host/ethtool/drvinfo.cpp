// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/drvinfo.h"

#include <linux/ethtool.h>

#include <algorithm>
#include <span>

namespace rdma_exporter::host {
namespace {

// A field of the kernel's, which need not end with a NUL. Some drivers write "N/A" for nothing.
template <std::size_t Size>
std::string text(const char (&field)[Size]) {  // NOLINT(*-avoid-c-arrays): the kernel's structure has them
  const std::string value(field, std::find(field, field + Size, '\0'));
  return value == "N/A" ? std::string() : value;
}

}  // namespace

core::Result<DriverInfo> driver_info(Ethtool& ethtool, const std::string& netdev) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  const auto done = ethtool.execute(netdev, std::as_writable_bytes(std::span(&info, 1)));
  if (!done) return tl::unexpected(done.error());
  return DriverInfo{text(info.driver), text(info.fw_version), text(info.bus_info)};
}

}  // namespace rdma_exporter::host
