// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/kernel_text.h"
#include "host/fs/attr_files.h"
#include "host/host.h"
#include "host/topology/device.h"

namespace rdma_exporter::host {

/// InfiniBand port states (include/rdma/ib_verbs.h enum ib_port_state).
inline constexpr std::uint32_t kPortActive = 4;

/// What is read of a port in every collection. A field that could not be read carries its own error.
struct PortState {
  core::Result<std::uint32_t> state;           ///< 0..5
  core::Result<std::uint32_t> physical_state;  ///< 0..7
  std::string netdev;                          ///< netlink only; empty where not known
  std::optional<std::uint32_t> lid;            ///< netlink only, InfiniBand only
  std::optional<std::uint32_t> sm_lid;         ///< netlink only, InfiniBand only
};

/// State of the ports of one device, read at most once per collection, because two collectors need it and
/// each read is a firmware query on most drivers: one PORT_GET message if netlink knows the device, else the
/// files. Thread-safe. A query that hangs holds up its callers, but no other device.
class PortStates {
 public:
  PortStates(Host& host, std::shared_ptr<const Device> device);

  /// `cycle` is the collection's number; `port` one of the device's.
  PortState get(std::uint32_t port, std::uint64_t cycle);

  /// The file `rate`, which is a firmware query like the others.
  core::Result<core::LinkRate> rate(std::uint32_t port, std::uint64_t cycle);

  /// Another file of ports/N, through the same kept directory. `name` must be static text.
  core::Result<std::string_view> read(std::uint32_t port, std::uint64_t cycle, std::string_view name,
                                      std::span<char> buffer);

 private:
  struct Memo {
    std::uint32_t port;
    std::unique_ptr<AttrFiles> files;
    std::optional<std::uint64_t> cycle;
    PortState value;
    std::optional<std::uint64_t> files_cycle;  ///< when the files were found last
  };

  Memo* find(std::uint32_t port);
  static core::Result<AttrFiles*> fresh_files(Memo& memo, std::uint64_t cycle);

  std::optional<PortState> query_netlink(std::uint32_t port);
  static PortState query_sysfs(Memo& memo, std::uint64_t cycle);

  std::shared_ptr<const Device> device_;
  std::mutex mutex_;
  std::unique_ptr<Netlink> netlink_;
  std::vector<Memo> memos_;
};

}  // namespace rdma_exporter::host
