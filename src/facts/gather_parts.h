// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/kernel_text.h"
#include "facts/facts.h"
#include "facts/gather.h"
#include "host/host.h"
#include "host/topology/device.h"

// Parts of gather.h.
namespace rdma_exporter::facts {

std::optional<KnownPci> gather_pci(host::Host& host, DeviceCache& cache, const AdapterEnd& adapter,
                                   const Wanted& wanted);
/// Reads the changeable facts of a PCI function again.
void refresh_pci(host::Host& host, DeviceCache& cache, const AdapterEnd& adapter, const Wanted& wanted,
                 KnownPci& pci);
std::vector<PortFacts> gather_ports(host::Host& host, const std::shared_ptr<const host::Device>& device,
                                    const DeviceMemory& memory, const Wanted& wanted);
std::vector<NetdevFacts> gather_netdevs(host::Host& host, const std::shared_ptr<const host::Device>& device,
                                        DeviceMemory& memory, const Pass& pass);

/// Facts that do not change while the device is registered are read in the first two readings, because the
/// kernel shows a device before its attributes, and then in every tenth.
constexpr bool reads_fixed_facts(unsigned earlier_readings) {
  constexpr unsigned kEvery = 10;
  return earlier_readings < 2 || earlier_readings % kEvery == 0;
}

/// Parses a file's text; the error contains the path.
template <typename T>
Fact<T> read_fact(host::HostFs& fs, const std::string& path, core::Result<T> (*parse)(std::string_view)) {
  const auto text = fs.read(path);
  auto value = text ? parse(*text) : tl::unexpected(text.error());
  if (!value) value.error().context = path;
  return value;
}

/// The error for queries where files do not belong to a running kernel.
inline tl::unexpected<core::Error> no_kernel(std::string_view what) {
  return core::config_error("a tree of files has no " + std::string(what));
}

}  // namespace rdma_exporter::facts
