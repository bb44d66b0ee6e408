// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/ethtool/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <span>

namespace rdma_exporter::host {
namespace {

using core::os_error;

class Ioctl : public Ethtool {
 public:
  ~Ioctl() override {
    if (socket_ >= 0) ::close(socket_);
  }

  core::Result<void> execute(const std::string& netdev, std::span<std::byte> buffer) override {
    const auto socket = opened();
    if (!socket) return tl::unexpected(socket.error());
    ifreq request{};
    if (netdev.size() >= sizeof request.ifr_name) return os_error(ENODEV);
    std::memcpy(request.ifr_name, netdev.data(), netdev.size());
    request.ifr_data = reinterpret_cast<char*>(buffer.data());
    if (::ioctl(*socket, SIOCETHTOOL, &request) != 0) return os_error(errno);
    return {};
  }

 private:
  core::Result<int> opened() {
    const std::lock_guard lock(mutex_);
    // Any datagram socket carries the ioctl; a kernel without IPv4 has AF_UNIX.
    for (const int family : {AF_INET, AF_UNIX}) {
      if (socket_ < 0) socket_ = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    }
    if (socket_ < 0) return os_error(errno);
    return socket_;
  }

  std::mutex mutex_;
  int socket_ = -1;
};

// A field of a kernel structure, which may lack a terminating NUL. Some drivers write "N/A" if they have no
// value.
template <std::size_t Size>
std::string text(const char (&field)[Size]) {  // NOLINT(*-avoid-c-arrays): the kernel's structure has them
  const std::string value(field, std::find(field, field + Size, '\0'));
  return value == "N/A" ? std::string() : value;
}

}  // namespace

std::size_t ethtool_request_size(std::span<const std::byte> buffer) {
  std::uint32_t command = 0;
  std::memcpy(&command, buffer.data(), std::min(sizeof command, buffer.size()));
  const auto size = [command] {
    switch (command) {
      case ETHTOOL_GSSET_INFO:
        return sizeof(ethtool_sset_info);
      case ETHTOOL_GSTRINGS:
        return sizeof(ethtool_gstrings);
      case ETHTOOL_GSTATS:
        return sizeof(ethtool_stats);
      default:
        return sizeof command;
    }
  }();
  return std::min(size, buffer.size());
}

std::unique_ptr<Ethtool> make_ethtool() { return std::make_unique<Ioctl>(); }

core::Result<DriverInfo> driver_info(Ethtool& ethtool, const std::string& netdev) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  const auto done = ethtool.execute(netdev, std::as_writable_bytes(std::span(&info, 1)));
  if (!done) return tl::unexpected(done.error());
  return DriverInfo{text(info.driver), text(info.fw_version), text(info.bus_info)};
}

}  // namespace rdma_exporter::host
