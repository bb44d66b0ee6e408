// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/make_host.h"

#include <sys/stat.h>

#include <memory>
#include <string>
#include <utility>

#include "host/events/event_reader.h"
#include "host/lldp/lldp_frames.h"
#include "record/archive/recording.h"
#include "record/replaying_host.h"

namespace rdma_exporter::app {
namespace {

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string sysfs_root(const config::Config& config) {
  return config.replay.empty() ? config.path.sysfs : config.replay + "/sys";
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

bool use_kernel(const config::Config& config) {
  if (!config.replay.empty() || config.netlink == config::NetlinkMode::off) return false;
  return config.netlink == config::NetlinkMode::on || host::is_real_sysfs(config.path.sysfs);
}

core::Result<std::shared_ptr<record::Player>> open_recording(const config::Config& config) {
  if (config.replay.empty() || is_directory(config.replay)) return nullptr;
  auto recording = record::Recording::load(config.replay);
  if (!recording) return core::config_error("--replay: " + recording.error().context.text());
  return std::make_shared<record::Player>(std::move(*recording), record::Player::Clock::now());
}

core::Result<void> check_host(const config::Config& config) {
  if (is_directory(sysfs_root(config))) return {};
  if (config.replay.empty())
    return core::config_error("--path.sysfs: " + config.path.sysfs + ": no such directory");
  if (is_directory(config.replay))
    return core::config_error("--replay: " + config.replay +
                              ": is neither an archive nor a directory that contains sys/");
  return {};
}

host::Host make_host(const config::Config& config, unsigned kept_files, Purpose purpose,
                     const std::shared_ptr<record::Player>& player) {
  if (player) return record::replaying_host(player, kept_files);
  const bool live = use_kernel(config);
  const auto changes = std::make_shared<host::Changes>();
  const host::Kernel kernel = host::running_kernel();
  return host::Host{
      .sysfs = host::make_host_fs(sysfs_root(config)),
      .procfs = host::make_host_fs(config.replay.empty() ? config.path.procfs : config.replay + "/proc"),
      .make_netlink =
          live ? host::make_netlink : [](host::NetlinkProtocol) { return std::unique_ptr<host::Netlink>(); },
      .ethtool = live ? host::make_ethtool() : nullptr,
      .verbs = live ? host::make_verbs() : nullptr,
      .device_nodes = host::is_real_sysfs(sysfs_root(config)) ? host::device_nodes : nullptr,
      .open_files = host::OpenFileBudget(kept_files),
      .kernel = kernel,
      .resource_dumps_safe = host::resource_dumps_safe(kernel.release, kernel.version),
      .changes = changes,
      .events = make_event_reader(config, purpose, changes),
      .open_lldp_frames = live ? host::open_lldp_frames : nullptr,
  };
}

}  // namespace rdma_exporter::app
