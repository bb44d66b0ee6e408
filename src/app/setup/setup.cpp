// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/setup.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "app/setup/collector_settings.h"
#include "app/setup/make_host.h"
#include "app/setup/probe_options.h"
#include "config/message.h"
#include "config/yaml/file.h"
#include "discovery/source.h"
#include "host/topology/inventory.h"
#include "http/listen/listen_address.h"
#include "probe/agent/agent.h"
#include "web/policy/policy_loader.h"

namespace rdma_exporter::app {
namespace {

core::Result<void> check_textfile(const std::string& path) {
  if (path.empty()) return {};
  if (!path.ends_with(".prom"))
    return core::config_error("--textfile: " + config::in_quotes(path) +
                              " does not end in .prom, so the textfile collector will not read it");
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return tl::unexpected(core::Error{core::Errc::config, error ? error.value() : ENOTDIR,
                                    "--textfile: " + folder.string() + " is not a directory"});
}

core::Result<void> check_listen_addresses(const std::vector<std::string>& addresses) {
  for (auto it = addresses.begin(); it != addresses.end(); ++it)
    // With port 0 the kernel chooses another one for each.
    if (!it->ends_with(":0") && std::find(addresses.begin(), it, *it) != it)
      return core::config_error("--web.listen-address: " + config::in_quotes(*it) + " is listed twice");
  return {};
}

// What no name server is needed for.
core::Result<void> check_files(const config::Config& config) {
  if (auto checked = check_host(config); !checked) return checked;
  if (auto checked = check_textfile(config.textfile); !checked) return checked;
  if (auto checked = check_listen_addresses(config.web.listen_addresses); !checked) return checked;
  if (config.web.config_file.empty()) return {};
  const auto policy = web::load_policy(config.web.config_file).policy;
  if (!policy) return config::error_at("--web.config.file", policy.error());
  return {};
}

core::Result<std::vector<std::string>> numeric_addresses(const std::vector<std::string>& addresses) {
  std::vector<std::string> numeric;
  for (const std::string& address : addresses) {
    auto found = http::numeric_address(address);
    if (!found) return tl::unexpected(std::move(found.error()));
    numeric.push_back(std::move(*found));
  }
  return numeric;
}

// Removes the addresses whose host name does not resolve here, with a warning for each.
void drop_unresolved(std::vector<std::string>& addresses, const std::string& flag,
                     std::vector<std::string>& warnings) {
  std::erase_if(addresses, [&](const std::string& address) {
    const bool unknown = !http::numeric_address(address);
    if (unknown)
      warnings.push_back(flag + ": " + config::in_quotes(address) + " does not resolve on this host");
    return unknown;
  });
}

core::Result<void> warn_about_filters(const config::Config& config, std::vector<std::string>& warnings) {
  const auto player = open_recording(config);
  if (!player) return tl::unexpected(player.error());
  constexpr unsigned kKeptFiles = 0;
  const host::Host host = make_host(config, kKeptFiles, Purpose::once, *player);
  const auto names = host.sysfs->list(host::kDevices);
  for (std::string& warning : unmatched_filters(config.device, names.value_or(std::vector<std::string>{})))
    warnings.push_back(std::move(warning));
  return {};
}

}  // namespace

core::Result<Setup> set_up(config::Config config, Purpose purpose) {
  if (auto checked = check_files(config); !checked) return tl::unexpected(std::move(checked.error()));
  const bool listens = purpose == Purpose::serve && config.textfile.empty() && !config.web.systemd_socket;
  auto addresses = numeric_addresses(listens ? config.web.listen_addresses : std::vector<std::string>());
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  auto probe = probe_options(config.probe);
  if (!probe) return tl::unexpected(std::move(probe.error()));
  if (auto checked = probe::Agent::check(*probe); !checked) return tl::unexpected(std::move(checked.error()));
  auto replay = Replay::open(config);
  if (!replay) return tl::unexpected(std::move(replay.error()));
  return Setup{std::move(config), std::move(*addresses), std::move(*probe), std::move(*replay)};
}

core::Result<std::vector<std::string>> check(const config::Config& config) {
  if (auto checked = check_files(config); !checked) return tl::unexpected(std::move(checked.error()));
  std::vector<std::string> warnings;
  auto addresses = config.web.listen_addresses;
  drop_unresolved(addresses, "--web.listen-address", warnings);
  config::ProbeConfig probe = config.probe;
  if (probe.responder || !probe.mesh.empty())
    drop_unresolved(probe.listen_addresses, "--probe.listen-address", warnings);
  const auto options = probe_options(probe);
  if (!options) return tl::unexpected(options.error());
  if (auto checked = probe::Agent::check(*options); !checked)
    return tl::unexpected(std::move(checked.error()));
  for (const config::ProbeTarget& target : probe.targets)
    if (!discovery::resolve(target.address))
      warnings.push_back("--probe.targets: " + config::in_quotes(target.address) +
                         " does not resolve on this host");
  if (auto checked = warn_about_filters(config, warnings); !checked)
    return tl::unexpected(std::move(checked.error()));
  return warnings;
}

}  // namespace rdma_exporter::app
