// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/probe_options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "config/yaml/file.h"
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

probe::SessionOptions session(const config::ProbeConfig& config) {
  probe::SessionOptions session;
  session.operations.clear();
  // In this order, whatever the order in the file: write is what is wanted, read stands in for it.
  for (const auto operation :
       {config::ProbeOperation::write, config::ProbeOperation::read, config::ProbeOperation::echo})
    if (std::find(config.operations.begin(), config.operations.end(), operation) != config.operations.end())
      session.operations.push_back(static_cast<probe::Op>(operation));
  session.interval = config.interval;
  session.echo_interval = config.echo_interval;
  session.transport = static_cast<probe::TransportChoice>(config.connect);
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
  options.select = {config.select.label, {}, config.select.ring, config.select.rotate, config.select.epoch};
  for (const config::ProbeScope scope : config.select.scopes)
    options.select.scopes.push_back(scope == config::ProbeScope::same ? probe::Scope::same
                                                                      : probe::Scope::other);
  options.hostmesh = config.hostmesh;
}

}  // namespace

core::Result<probe::AgentOptions> probe_options(const config::ProbeConfig& config) {
  probe::AgentOptions options;
  for (const config::ProbeTarget& from : config.targets) options.targets.push_back(target(from));
  set_discovery(config, options);
  options.session = session(config);
  options.responder.enabled = config.responder;
  options.responder.insecure = config.insecure;
  for (const std::string& address : config.responder ? config.listen_addresses : std::vector<std::string>()) {
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

}  // namespace rdma_exporter::app
