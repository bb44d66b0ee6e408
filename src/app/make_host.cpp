// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/make_host.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <memory>
#include <string>
#include <string_view>

#include "host/kernel_release.h"

namespace rdma_exporter::app {
namespace {

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string sysfs_root(const config::Config& config) {
  return config.replay.empty() ? config.path.sysfs : config.replay + "/sys";
}

// Netlink and verbs speak for the running kernel: they belong to its own sysfs only, not to a tree of files.
bool use_kernel(const config::Config& config) {
  if (!config.replay.empty() || config.netlink == config::NetlinkMode::off) return false;
  return config.netlink == config::NetlinkMode::on || host::is_real_sysfs(config.path.sysfs);
}

bool kernel_is(bool (*safe)(std::string_view release, std::string_view version)) {
  utsname kernel{};
  return ::uname(&kernel) == 0 && safe(kernel.release, kernel.version);
}

// Events are what happens between two collections: nothing for a single one.
std::shared_ptr<host::EventReader> make_event_reader(const config::Config& config, Purpose purpose,
                                                     const std::shared_ptr<host::Changes>& changes) {
  const auto collector = config.collectors.find("events");
  const bool enabled = collector != config.collectors.end() && collector->second.enabled;
  if (purpose != Purpose::serve || !enabled || !use_kernel(config)) return nullptr;
  auto reader = std::make_shared<host::EventReader>(changes, host::make_netlink);
  reader->start();
  return reader;
}

}  // namespace

core::Result<void> check_host(const config::Config& config) {
  if (is_directory(sysfs_root(config))) return {};
  const std::string_view flag = config.replay.empty() ? "--path.sysfs: " : "--replay: ";
  return core::config_error(std::string(flag) + sysfs_root(config) + ": no such directory");
}

host::Host make_host(const config::Config& config, unsigned kept_files, Purpose purpose) {
  const bool kernel = use_kernel(config);
  const auto changes = std::make_shared<host::Changes>();
  return host::Host{
      .sysfs = host::make_host_fs(sysfs_root(config)),
      .procfs = host::make_host_fs(config.replay.empty() ? config.path.procfs : config.replay + "/proc"),
      .make_netlink = kernel ? host::make_netlink
                             : [](host::NetlinkProtocol) { return std::unique_ptr<host::Netlink>(); },
      .ethtool = kernel ? host::make_ethtool() : nullptr,
      .verbs = kernel ? host::make_verbs() : nullptr,
      .open_files = host::OpenFileBudget(kept_files),
      .device_counters_always_safe = kernel_is(host::device_counters_safe_in_any_namespace),
      .resource_dumps_safe = kernel_is(host::resource_dumps_safe),
      .changes = changes,
      .events = make_event_reader(config, purpose, changes),
  };
}

}  // namespace rdma_exporter::app
