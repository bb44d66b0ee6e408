// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace rdma_exporter::app {

/// Tells systemd how the service is (Type=notify): one datagram to the socket that NOTIFY_SOCKET names, as
/// sd_notify(3) specifies it. libsystemd would send the same and cost more than a megabyte. Does nothing
/// where nobody listens. Never blocks; what cannot be sent is lost, as nothing could be done.
class ServiceManager {
 public:
  /// From the environment, which systemd sets for the main process of the service.
  ServiceManager();

  /// The service works, also after a reload. `status` is the line that `systemctl status` shows.
  void ready(std::string_view status) const;
  void reloading() const;
  void stopping() const;
  /// The event loop is alive; call it at least every watchdog_interval().
  void alive() const;

  /// Half of WatchdogSec=; nullopt when systemd does not watch this process.
  std::optional<std::chrono::microseconds> watchdog_interval() const;

 private:
  void send(std::string_view state) const;

  std::string socket_;  ///< empty: nobody listens
};

}  // namespace rdma_exporter::app
