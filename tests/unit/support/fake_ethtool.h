// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The kernel's side of SIOCETHTOOL for driver statistics, following net/ethtool/ioctl.c, with drivers that
// may change their statistics between two ioctls.
#pragma once

#include <linux/ethtool.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/ethtool/ethtool.h"

namespace rdma_exporter::test {

class FakeEthtool : public host::Ethtool {
 public:
  struct Interface {
    std::vector<std::string> names;
    std::vector<std::uint64_t> values;
    bool has_statistics = true;
    std::string driver = "fake";
    std::string firmware_version;
    std::string bus_address;
    /// A statistic that is there now.
    std::uint64_t& operator[](const std::string& name) {
      const auto it = std::find(names.begin(), names.end(), name);
      if (it != names.end()) return values[static_cast<std::size_t>(it - names.begin())];
      names.push_back(name);
      return values.emplace_back();
    }
  };

  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    std::uint32_t command = 0;
    std::memcpy(&command, buffer.data(), sizeof command);
    ++calls[command];
    if (const auto hook = before) hook(command);  // a copy: it may take itself away
    if (const auto it = refusals.find(command); it != refusals.end()) return core::os_error(it->second);
    const auto it = interfaces.find(netdev);
    if (it == interfaces.end()) return core::os_error(ENODEV);
    switch (command) {
      case ETHTOOL_GSSET_INFO:
        return sset_info(it->second, buffer);
      case ETHTOOL_GSTRINGS:
        return strings(it->second, buffer);
      case ETHTOOL_GSTATS:
        return statistics(it->second, buffer);
      case ETHTOOL_GDRVINFO:
        return drvinfo(it->second, buffer);
      default:
        return core::os_error(EOPNOTSUPP);
    }
  }

  std::map<std::string, Interface> interfaces;
  /// A kernel that writes all it has, whatever the caller's length says.
  bool old_kernel = false;
  std::function<void(std::uint32_t command)> before;
  std::map<std::uint32_t, int> refusals;  ///< command -> errno
  std::map<std::uint32_t, int> calls;

 private:
  // As copy_to_user() at a page that nobody may write: what fits is written.
  static core::Result<void> copy(std::span<std::byte> to, std::size_t offset, const void* from,
                                 std::size_t size) {
    const std::size_t room = to.size() - std::min(offset, to.size());
    std::memcpy(to.data() + to.size() - room, from, std::min(size, room));
    if (size > room) return core::os_error(EFAULT);
    return {};
  }

  static core::Result<void> sset_info(const Interface& interface, std::span<std::byte> buffer) {
    ethtool_sset_info info{};
    info.cmd = ETHTOOL_GSSET_INFO;
    if (interface.has_statistics) info.sset_mask = std::uint64_t{1} << ETH_SS_STATS;
    const auto count = static_cast<std::uint32_t>(interface.names.size());
    const auto done = copy(buffer, 0, &info, sizeof info);
    return done && interface.has_statistics ? copy(buffer, sizeof info, &count, sizeof count) : done;
  }

  /// What the kernel makes of the caller's length.
  std::uint32_t agreed(std::uint32_t wanted, std::size_t there) const {
    if (!old_kernel && wanted != 0 && wanted != there) return 0;
    return static_cast<std::uint32_t>(there);
  }

  core::Result<void> strings(const Interface& interface, std::span<std::byte> buffer) const {
    if (!interface.has_statistics) return core::os_error(EOPNOTSUPP);
    ethtool_gstrings header{};
    std::memcpy(&header, buffer.data(), sizeof header);
    header.len = agreed(header.len, interface.names.size());
    std::vector<char> all(std::size_t{header.len} * ETH_GSTRING_LEN);
    for (std::size_t i = 0; i < header.len; ++i)
      std::memcpy(all.data() + i * ETH_GSTRING_LEN, interface.names[i].data(),
                  std::min<std::size_t>(interface.names[i].size(), ETH_GSTRING_LEN));
    const auto done = copy(buffer, 0, &header, sizeof header);
    return done ? copy(buffer, sizeof header, all.data(), all.size()) : done;
  }

  core::Result<void> statistics(const Interface& interface, std::span<std::byte> buffer) const {
    if (!interface.has_statistics) return core::os_error(EOPNOTSUPP);
    ethtool_stats header{};
    std::memcpy(&header, buffer.data(), sizeof header);
    header.n_stats = agreed(header.n_stats, interface.values.size());
    const auto done = copy(buffer, 0, &header, sizeof header);
    return done ? copy(buffer, sizeof header, interface.values.data(), header.n_stats * sizeof(std::uint64_t))
                : done;
  }

  static core::Result<void> drvinfo(const Interface& interface, std::span<std::byte> buffer) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    interface.driver.copy(info.driver, sizeof info.driver);
    interface.firmware_version.copy(info.fw_version, sizeof info.fw_version);
    interface.bus_address.copy(info.bus_info, sizeof info.bus_info);
    return copy(buffer, 0, &info, sizeof info);
  }
};

/// The statistics of an interface as the kernel gave them (tests/unit/data/ethtool).
inline FakeEthtool::Interface recorded_interface(const std::string& name) {
  const auto bytes = [&](const std::string& answer) {
    std::ifstream file(SOURCE_DIR "/tests/unit/data/ethtool/" + name + "_" + answer + ".bin",
                       std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string names = bytes("gstrings").substr(sizeof(ethtool_gstrings));
  const std::string values = bytes("gstats").substr(sizeof(ethtool_stats));
  FakeEthtool::Interface interface;
  for (std::size_t i = 0; i < names.size(); i += ETH_GSTRING_LEN)
    interface.names.emplace_back(names.substr(i, ETH_GSTRING_LEN).c_str());
  interface.values.resize(values.size() / sizeof(std::uint64_t));
  std::memcpy(interface.values.data(), values.data(), values.size());
  ethtool_drvinfo info{};
  bytes("drvinfo").copy(reinterpret_cast<char*>(&info), sizeof info);
  interface.driver = info.driver;
  interface.bus_address = info.bus_info;
  return interface;
}

/// The names of a driver's statistics by the kernel's sources (tests/unit/data/ethtool_names), with values
/// 1, 2, 3, ...
inline FakeEthtool::Interface listed_interface(const std::string& list) {
  FakeEthtool::Interface interface;
  std::ifstream file(SOURCE_DIR "/tests/unit/data/ethtool_names/" + list + ".txt");
  for (std::string line; std::getline(file, line);)
    if (!line.starts_with('#')) interface[line] = interface.values.size() + 1;
  return interface;
}

}  // namespace rdma_exporter::test
