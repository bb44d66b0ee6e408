// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/option_rows.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

template <auto... members>
constexpr auto at_probe() {
  return at<&Config::probe, members...>();
}

// Options that find peers automatically.
void add_probe_discovery_options(OptionRows& rows) {
  using Discovery = ProbeDiscoveryConfig;

  rows.add("probe.discovery.files",
           "Files that list peers, in Prometheus' file_sd JSON format; * is allowed in the file name.",
           list_of(filled_text("PATTERN", "use a path"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::files>());
  rows.add("probe.discovery.names", "DNS names whose addresses are all peers: NAME or NAME:PORT.",
           list_of(filled_text("NAME", "use a name"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::names>());
  rows.add("probe.discovery.urls", "URLs that list peers, in Prometheus' http_sd JSON format.",
           list_of(filled_text("URL", "use http:// or https://"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::urls>());
  rows.add("probe.discovery.ca-file",
           "CA certificate for https servers; empty: the CAs that the host trusts.",
           text("FILE", "use the path of a file"), at_probe<&ProbeConfig::discovery, &Discovery::ca_file>());
  rows.add("probe.discovery.refresh", "Time between two refreshes; a changed file is read at once.",
           whole_seconds(1s, 24h), at_probe<&ProbeConfig::discovery, &Discovery::refresh>());
  rows.add("probe.discovery.port", "Port of all discovered peers; 0: the one in the list, or 9401.",
           number(0, 65535), at_probe<&ProbeConfig::discovery, &Discovery::port>());
}

// Options that select some of the discovered peers.
void add_probe_select_options(OptionRows& rows) {
  using Select = ProbeSelectConfig;

  rows.add("probe.select.ring",
           "Number of discovered peers that are always probed: the next ones in a ring of all hosts.",
           number(0, 1000), at_probe<&ProbeConfig::select, &Select::ring>());
  rows.add("probe.select.rotate",
           "Number of further discovered peers that are probed for one epoch; the next epoch probes others.",
           number(0, 1000), at_probe<&ProbeConfig::select, &Select::rotate>());
  rows.add("probe.select.epoch", "Duration of an epoch.", whole_seconds(10s, 24h),
           at_probe<&ProbeConfig::select, &Select::epoch>());
  rows.add("probe.select.label", "Label that distinguishes kinds of peers; each kind forms a ring.",
           text("LABEL", "use the name of a label"), at_probe<&ProbeConfig::select, &Select::label>());
  rows.add(
      "probe.select.scope", "Kinds of peers to probe: same (this host's kind), other, or both.",
      list_of(one_of<ProbeScope>("SCOPE", {{"same", ProbeScope::same}, {"other", ProbeScope::other}}), 1),
      at_probe<&ProbeConfig::select, &Select::scopes>());
  rows.add("probe.hostmesh", "Let the devices of this host probe each other.", boolean(),
           at_probe<&ProbeConfig::hostmesh>());
}

// Options that say which peers to probe, and who may probe this host.
void add_probe_peer_options(OptionRows& rows) {
  const auto file = [] { return text("FILE", "use the path of a file"); };

  rows.add("probe.mesh",
           "Enable the whole probe: a DNS name, a file or a URL that lists the hosts of the mesh, including "
           "this one.",
           text("LIST", "use a name, a path or a URL"), at_probe<&ProbeConfig::mesh>());
  rows.add("probe.targets", "Peers to which RC verbs latency is measured; see docs/PROBE_SETUP.md.",
           list_of(probe_target(), 0), at_probe<&ProbeConfig::targets>());
  rows.add("probe.responder", "Answer probes from peers.", boolean(), at_probe<&ProbeConfig::responder>());
  rows.add("probe.listen-address", "Address to listen on for peers that set up probes with this host.",
           list_of(listen_address(), 1), at_probe<&ProbeConfig::listen_addresses>());
  rows.add("probe.insecure", "Answer any host: listen beyond loopback without credentials.", boolean(),
           at_probe<&ProbeConfig::insecure>());
  rows.add("probe.cert-file", "Certificate that this host presents to its peers (PEM).", file(),
           at_probe<&ProbeConfig::cert_file>());
  rows.add("probe.key-file", "Private key of that certificate.", file(), at_probe<&ProbeConfig::key_file>());
  rows.add("probe.ca-file", "CA that the certificates of peers must be signed by.", file(),
           at_probe<&ProbeConfig::ca_file>());
  rows.add("probe.secret-file",
           "File with secrets that peers share instead of certificates, one NAME:HEXDIGITS per line.", file(),
           at_probe<&ProbeConfig::secret_file>());
  rows.add("probe.cluster", "Name of the cluster; peers that give another name are rejected.",
           text("NAME", "use a name"), at_probe<&ProbeConfig::cluster>());
  rows.add("probe.device-include", "Probe only over devices whose whole name matches.", regex(),
           at_probe<&ProbeConfig::device_include>());
}

// Options that say how to probe.
void add_probe_measuring_options(OptionRows& rows) {
  rows.add(
      "probe.operations",
      "Operations to measure: write, read, echo; of write and read, the first one that the peer accepts.",
      list_of(one_of<ProbeOperation>("OP", {{"write", ProbeOperation::write},
                                            {"read", ProbeOperation::read},
                                            {"echo", ProbeOperation::echo}}),
              1),
      at_probe<&ProbeConfig::operations>());
  rows.add("probe.interval", "Time between two one-sided operations to a target.", duration(10ms, 1h),
           at_probe<&ProbeConfig::interval>());
  rows.add("probe.echo-interval", "Time between two echoes to a target.", duration(10ms, 1h),
           at_probe<&ProbeConfig::echo_interval>());
  rows.add("probe.connect",
           "How to connect queue pairs: verbs, rdma_cm, or auto (rdma_cm on iWARP, otherwise verbs).",
           one_of<ProbeConnect>("WAY", {{"auto", ProbeConnect::automatic},
                                        {"verbs", ProbeConnect::verbs},
                                        {"rdma_cm", ProbeConnect::rdma_cm}}),
           at_probe<&ProbeConfig::connect>());
  rows.add("probe.flows", "Number of connections to each target, each over its own path.", number(1, 64),
           at_probe<&ProbeConfig::flows>());
  rows.add(
      "probe.traffic-class",
      "Traffic class of probes and answers: DSCP * 4 + ECN bits; auto: the one that the driver forces or "
      "rdma_cm presets, or 106.",
      automatic_or(number(0, 255)), at_probe<&ProbeConfig::traffic_class>());
  rows.add("probe.service-level", "Service level of probes and answers.", number(0, 15),
           at_probe<&ProbeConfig::service_level>());
  rows.add("probe.timeout", "Exponent n of the ACK timeout, 4.096 us * 2^n.", number(12, 20),
           at_probe<&ProbeConfig::timeout>());
  rows.add("probe.retry", "Number of retransmissions before an operation fails.", number(0, 6),
           at_probe<&ProbeConfig::retry>());
}

void add_probe_limit_options(OptionRows& rows) {
  rows.add("probe.max-qps", "Maximum number of queue pairs of a device, half of them for peers.",
           number(4, 4096), at_probe<&ProbeConfig::max_qps>());
  rows.add("probe.max-probes-per-second",
           "Maximum number of operations per second over a device; intervals get longer beyond it.",
           number(1, 100'000), at_probe<&ProbeConfig::max_probes_per_second>());
  rows.add("probe.max-connects-per-second",
           "Maximum number of connections established per second over a device.", number(1, 1000),
           at_probe<&ProbeConfig::max_connects_per_second>());
  rows.add(
      "probe.max-cpu-percent",
      "Maximum CPU usage in percent of one CPU; beyond it the probes over a device become less frequent.",
      number(1, 100), at_probe<&ProbeConfig::max_cpu_percent>());
  rows.add(
      "probe.histogram-targets",
      "Maximum number of targets with latency histograms of their own; with more, each group shares one.",
      number(0, 10'000), at_probe<&ProbeConfig::histogram_targets>());
}

}  // namespace

void add_probe_options(OptionRows& rows) {
  add_probe_peer_options(rows);
  add_probe_discovery_options(rows);
  add_probe_select_options(rows);
  add_probe_measuring_options(rows);
  add_probe_limit_options(rows);
}

}  // namespace rdma_exporter::config
