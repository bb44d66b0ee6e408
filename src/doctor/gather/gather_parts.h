// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/kernel_text.h"
#include "doctor/gather/facts.h"
#include "host/host.h"
#include "host/topology/device.h"

// Parts of gather.h.
namespace rdma_exporter::doctor {

std::optional<PciFacts> gather_pci(host::Host& host, const host::Device& device);
std::vector<PortFacts> gather_ports(host::Host& host, const std::shared_ptr<const host::Device>& device);
std::vector<NetdevFacts> gather_netdevs(host::Host& host, const std::shared_ptr<const host::Device>& device);

/// A file's text through a parser; the error has the path.
template <typename T>
Fact<T> read_fact(host::HostFs& fs, const std::string& path, core::Result<T> (*parse)(std::string_view)) {
  const auto text = fs.read(path);
  auto value = text ? parse(*text) : tl::unexpected(text.error());
  if (!value) value.error().context = path;
  return value;
}

/// Why nothing can be asked where there is no kernel behind the files.
inline tl::unexpected<core::Error> no_kernel(std::string_view what) {
  return core::config_error("a tree of files has no " + std::string(what));
}

}  // namespace rdma_exporter::doctor
