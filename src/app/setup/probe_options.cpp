// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/setup/probe_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "config/message.h"
#include "config/yaml/file.h"
#include "facts/gather.h"
#include "host/fs/host_fs.h"
#include "http/listen/listen_address.h"

namespace rdma_exporter::app {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

probe::Target target(const config::ProbeTarget& from) {
  probe::Target target;
  target.name = from.name.empty() ? from.address : from.name;
  target.address = from.address;
  target.port = from.port;
  target.group = from.group;
  target.device = from.device;
  target.from = from.from;
  target.source = from.source;
  return target;
}

probe::Op operation_of(config::ProbeOperation operation) {
  switch (operation) {
    case config::ProbeOperation::write:
      return probe::Op::write;
    case config::ProbeOperation::read:
      return probe::Op::read;
    case config::ProbeOperation::echo:
      break;
  }
  return probe::Op::echo;
}

probe::TransportChoice transport_of(config::ProbeConnect connect) {
  switch (connect) {
    case config::ProbeConnect::verbs:
      return probe::TransportChoice::verbs;
    case config::ProbeConnect::rdma_cm:
      return probe::TransportChoice::rdma_cm;
    case config::ProbeConnect::automatic:
      break;
  }
  return probe::TransportChoice::automatic;
}

probe::SessionOptions session(const config::ProbeConfig& config) {
  probe::SessionOptions session;
  session.operations.clear();
  // In this order, whatever the order in the file: write is what is wanted, read stands in for it.
  for (const auto operation :
       {config::ProbeOperation::write, config::ProbeOperation::read, config::ProbeOperation::echo})
    if (std::find(config.operations.begin(), config.operations.end(), operation) != config.operations.end())
      session.operations.push_back(operation_of(operation));
  session.interval = config.interval;
  session.echo_interval = config.echo_interval;
  session.transport = transport_of(config.connect);
  session.flows = config.flows;
  session.traffic_class = config.traffic_class;
  session.service_level = config.service_level;
  session.timing.timeout = config.timeout;
  session.timing.retry = config.retry;
  session.cluster = config.cluster;
  session.host = host_name();
  session.credentials = {config.cert_file, config.key_file, config.ca_file, config.secret_file};
  return session;
}

void set_discovery(const config::ProbeConfig& config, probe::AgentOptions& options) {
  const config::ProbeDiscoveryConfig& from = config.discovery;
  options.sources = {from.files, from.names, from.urls, from.ca_file, from.refresh};
  options.discovered_port = static_cast<std::uint16_t>(from.port);
  options.select.label = config.select.label;
  options.select.scopes.clear();
  options.select.ring = config.select.ring;
  options.select.rotate = config.select.rotate;
  options.select.epoch = config.select.epoch;
  for (const config::ProbeScope scope : config.select.scopes)
    options.select.scopes.push_back(scope == config::ProbeScope::same ? probe::Scope::same
                                                                      : probe::Scope::other);
  options.hostmesh = config.hostmesh;
}

// What a list is, its text says: a URL has a scheme, a path a slash or the ending of file_sd.
core::Result<void> set_mesh(const config::ProbeConfig& config, probe::AgentOptions& options) {
  const std::string& list = config.mesh;
  if (list.empty()) return {};
  if (!options.sources.empty())
    return core::config_error(
        "--probe.mesh: " + config::in_quotes(list) +
        " replaces all other lists of peers; remove --probe.discovery.files, .names and .urls");
  if (list.starts_with("http://") || list.starts_with("https://"))
    options.sources.urls = {list};
  else if (list.find('/') != std::string::npos || list.ends_with(".json"))
    options.sources.files = {list};
  else
    options.sources.names = {list};
  options.select.mesh = true;
  return {};
}

}  // namespace

core::Result<probe::AgentOptions> probe_options(const config::ProbeConfig& config) {
  probe::AgentOptions options;
  for (const config::ProbeTarget& from : config.targets) options.targets.push_back(target(from));
  set_discovery(config, options);
  if (auto done = set_mesh(config, options); !done) return tl::unexpected(std::move(done.error()));
  options.session = session(config);
  const bool responds = config.responder || options.select.mesh;
  options.responder.enabled = responds;
  options.responder.insecure = config.insecure;
  for (const std::string& address : responds ? config.listen_addresses : std::vector<std::string>()) {
    auto endpoints = http::listen_endpoints(address);
    if (!endpoints) return config::error_at("--probe.listen-address", std::move(endpoints.error()));
    options.responder.listen.push_back(std::move(*endpoints));
  }
  options.limits = {config.max_qps, config.max_probes_per_second, config.max_connects_per_second,
                    config.max_cpu_percent};
  options.device_include = config.device_include;
  options.histogram_targets = config.histogram_targets;
  return options;
}

probe::PresetClass preset_class(const std::string& sysfs) {
  const std::shared_ptr<host::HostFs> fs = host::make_host_fs(sysfs);
  return [fs](const std::string& device, std::uint8_t port) -> std::optional<unsigned> {
    const auto preset = facts::traffic_class(facts::read_classes(*fs, device, port));
    if (!preset || preset->value == 0) return std::nullopt;
    return preset->value;
  };
}

}  // namespace rdma_exporter::app
