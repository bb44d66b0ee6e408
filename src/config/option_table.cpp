// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/option_table.h"

#include <algorithm>

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr auto kYear = 8760h;
constexpr auto kDirectory = "use the path of a directory";
constexpr auto kRecording = "use the path of an archive or a directory";
constexpr unsigned kMany = 1'000'000;

std::vector<Option> web_options() {
  return {
      option("web.listen-address", "Address to serve on.", list_of(listen_address(), 1),
             at(&Config::web, &WebConfig::listen_addresses)),
      option("web.systemd-socket", "Serve on the sockets that systemd passes, not on web.listen_address.",
             boolean(), at(&Config::web, &WebConfig::systemd_socket)),
      option("web.config.file", "File with TLS, passwords, headers, rate limit (exporter-toolkit's format).",
             text("FILE", "use the path of a file"), at(&Config::web, &WebConfig::config_file)),
      option("web.telemetry-path", "Path that metrics are served at.", telemetry_path(),
             at(&Config::web, &WebConfig::telemetry_path)),
      option("web.max-connections", "Connections open at the same time.", number(1, 10'000),
             at(&Config::web, &WebConfig::max_connections)),
      option("web.max-requests-per-connection", "Requests after which a connection is closed.",
             number(1, 1'000'000), at(&Config::web, &WebConfig::max_requests_per_connection)),
      option("web.read-timeout", "Time a client has to send a whole request, or for the TLS handshake.",
             duration(10ms, 1h), at(&Config::web, &WebConfig::read_timeout)),
      option("web.write-timeout", "Time a client has to take a whole response.", duration(10ms, 1h),
             at(&Config::web, &WebConfig::write_timeout)),
      option("web.idle-timeout", "Time a connection is kept between two requests.", duration(10ms, 24h),
             at(&Config::web, &WebConfig::idle_timeout)),
      option("web.max-header-bytes", "Longest request header.", number(1024, 1'048'576),
             at(&Config::web, &WebConfig::max_header_bytes)),
      option("web.openmetrics-created",
             "Serve _created series in OpenMetrics, for what the exporter counts itself.", boolean(),
             at(&Config::web, &WebConfig::openmetrics_created)),
      option("web.enable-lifecycle", "Load the configuration anew on POST /-/reload, as on SIGHUP.",
             boolean(), at(&Config::web, &WebConfig::enable_lifecycle)),
  };
}

std::vector<Option> source_options() {
  return {
      option("path.sysfs", "Where sysfs is mounted.", filled_text("DIR", kDirectory),
             at(&Config::path, &PathConfig::sysfs)),
      option("path.procfs", "Where procfs is mounted.", filled_text("DIR", kDirectory),
             at(&Config::path, &PathConfig::procfs)),
      option("replay", "Serve this recording, an archive of `capture` or a directory, instead of this host.",
             text("PATH", kRecording), at(&Config::replay)),
      option(
          "netlink", "Ask the kernel over RDMA netlink; auto: when path.sysfs is a real sysfs.",
          one_of<NetlinkMode>(
              "MODE", {{"auto", NetlinkMode::automatic}, {"on", NetlinkMode::on}, {"off", NetlinkMode::off}}),
          at(&Config::netlink)),
      option("device.include", "Only devices whose whole name matches.", regex(),
             at(&Config::device, &DeviceConfig::include)),
      option("device.exclude", "No devices whose whole name matches.", regex(),
             at(&Config::device, &DeviceConfig::exclude)),
      option("device.forget-after", "Time after which a device that vanished is no longer reported as down.",
             whole_seconds(0s, kYear), at(&Config::device, &DeviceConfig::forget_after)),
      option("raw", "Kernel counters in the raw families: those without a curated name, all, or none.",
             one_of<RawPolicy>(
                 "POLICY",
                 {{"unmapped", RawPolicy::unmapped}, {"all", RawPolicy::all}, {"none", RawPolicy::none}}),
             at(&Config::raw)),
  };
}

std::vector<Option> event_options() {
  return {
      option("collector.events.async",
             "Listen to the devices' asynchronous events; auto: where that does not hold up their removal.",
             one_of<AsyncEventsPolicy>("MODE", {{"auto", AsyncEventsPolicy::automatic},
                                                {"on", AsyncEventsPolicy::on},
                                                {"off", AsyncEventsPolicy::off}}),
             at(&Config::async_events))};
}

std::vector<Option> running_options() {
  return {
      option("textfile",
             "Write the metrics to this file, for the textfile collector of node_exporter; listen nowhere.",
             text("FILE", "use the path of a file"), at(&Config::textfile)),
      option("interval", "Time from one write of the text file to the next.", duration(1s, 1h),
             at(&Config::interval)),
      option("scrape.timeout", "Longest time a scrape may take; what is late is left out.",
             duration(10ms, 10min), at(&Config::scrape, &ScrapeConfig::timeout)),
      option("scrape.timeout-offset", "Taken off the timeout that the scraper announces.",
             duration(0ms, 1min), at(&Config::scrape, &ScrapeConfig::timeout_offset)),
      option("limits.workers", "Most threads that read devices.", number(1, 1024),
             at(&Config::limits, &LimitsConfig::workers)),
      option("limits.series-per-device", "Most series of one device; more are dropped and counted.",
             number(1, kMany), at(&Config::limits, &LimitsConfig::series_per_device)),
      option("limits.kept-files", "Most counter files kept open between scrapes; 0: none.", number(0, kMany),
             at(&Config::limits, &LimitsConfig::kept_files)),
      option("limits.page-bytes",
             "Longest page before compression; families that do not fit are left out and counted.",
             number(65'536, 1'073'741'824), at(&Config::limits, &LimitsConfig::page_bytes)),
      option("log.level", "Least severity that is logged.",
             one_of<LogLevel>("LEVEL", {{"debug", LogLevel::debug},
                                        {"info", LogLevel::info},
                                        {"warn", LogLevel::warn},
                                        {"error", LogLevel::error}}),
             at(&Config::log, &LogConfig::level)),
      option("log.format", "Form of a log line.",
             one_of<LogFormat>("FORMAT", {{"logfmt", LogFormat::logfmt}, {"json", LogFormat::json}}),
             at(&Config::log, &LogConfig::format)),
  };
}

template <typename... Members>
auto at_probe(Members... members) {
  return at(&Config::probe, members...);
}

// Peers that nobody writes down.
std::vector<Option> probe_discovery_options() {
  const auto in = [](auto member) { return at_probe(&ProbeConfig::discovery, member); };
  using Discovery = ProbeDiscoveryConfig;
  return {
      option("probe.discovery.files",
             "Files with peers, in the JSON of Prometheus' file_sd; * in the last part.",
             list_of(filled_text("PATTERN", "use a path"), 0), in(&Discovery::files)),
      option("probe.discovery.names", "Names in DNS whose addresses are all peers: NAME or NAME:PORT.",
             list_of(filled_text("NAME", "use a name"), 0), in(&Discovery::names)),
      option("probe.discovery.urls", "Servers of lists of peers, in the JSON of Prometheus' http_sd.",
             list_of(filled_text("URL", "use http:// or https://"), 0), in(&Discovery::urls)),
      option("probe.discovery.ca-file", "Authority of https servers; empty: those that the host trusts.",
             text("FILE", "use the path of a file"), in(&Discovery::ca_file)),
      option("probe.discovery.refresh", "Time between two readings; a changed file is read at once.",
             whole_seconds(1s, 24h), in(&Discovery::refresh)),
      option("probe.discovery.port", "Port of all peers found; 0: the one in the list, or 9401.",
             number(0, 65535), in(&Discovery::port)),
  };
}

// Whom of them.
std::vector<Option> probe_select_options() {
  const auto in = [](auto member) { return at_probe(&ProbeConfig::select, member); };
  using Select = ProbeSelectConfig;
  return {
      option("probe.select.ring",
             "Peers found that are probed always, the next ones in a circle of all hosts.", number(0, 1000),
             in(&Select::ring)),
      option("probe.select.rotate", "Peers found that are probed for an epoch, others in the next one.",
             number(0, 1000), in(&Select::rotate)),
      option("probe.select.epoch", "Length of an epoch.", whole_seconds(10s, 24h), in(&Select::epoch)),
      option("probe.select.label", "Label that says which peers are of one kind; each kind is a circle.",
             text("LABEL", "use the name of a label"), in(&Select::label)),
      option(
          "probe.select.scope", "Peers of which kinds are probed: this host's, others, or both.",
          list_of(one_of<ProbeScope>("SCOPE", {{"same", ProbeScope::same}, {"other", ProbeScope::other}}), 1),
          in(&Select::scopes)),
      option("probe.hostmesh", "This host's devices probe each other.", boolean(),
             at_probe(&ProbeConfig::hostmesh)),
  };
}

// Who is probed, and who may probe this host.
std::vector<Option> probe_peer_options() {
  const auto file = [] { return text("FILE", "use the path of a file"); };
  return {
      option("probe.targets", "Peers whose latency over RC verbs is measured; see docs/PROBE.md.",
             list_of(probe_target(), 0), at_probe(&ProbeConfig::targets)),
      option("probe.responder", "Answer the probes of peers.", boolean(), at_probe(&ProbeConfig::responder)),
      option("probe.listen-address", "Address on which peers agree on their probes with this host.",
             list_of(listen_address(), 1), at_probe(&ProbeConfig::listen_addresses)),
      option("probe.insecure", "Answer every host that asks: listen beyond loopback without credentials.",
             boolean(), at_probe(&ProbeConfig::insecure)),
      option("probe.cert-file", "Certificate of this host for its peers (PEM).", file(),
             at_probe(&ProbeConfig::cert_file)),
      option("probe.key-file", "Key of that certificate.", file(), at_probe(&ProbeConfig::key_file)),
      option("probe.ca-file", "Authority whose certificates peers must have.", file(),
             at_probe(&ProbeConfig::ca_file)),
      option("probe.secret-file", "Secrets that peers share instead of certificates: lines NAME:HEXDIGITS.",
             file(), at_probe(&ProbeConfig::secret_file)),
      option("probe.cluster", "Peers that say another one are refused.", text("NAME", "use a name"),
             at_probe(&ProbeConfig::cluster)),
      option("probe.device-include", "Probe only over devices whose whole name matches.", regex(),
             at_probe(&ProbeConfig::device_include)),
  };
}

std::vector<Option> probe_options() {
  return {
      option("probe.operations", "What is measured; of write and read the first that the peer takes.",
             list_of(one_of<ProbeOperation>("OP", {{"write", ProbeOperation::write},
                                                   {"read", ProbeOperation::read},
                                                   {"echo", ProbeOperation::echo}}),
                     1),
             at_probe(&ProbeConfig::operations)),
      option("probe.interval", "Time between two one-sided operations to a target.", duration(10ms, 1h),
             at_probe(&ProbeConfig::interval)),
      option("probe.echo-interval", "Time between two echoes to a target.", duration(10ms, 1h),
             at_probe(&ProbeConfig::echo_interval)),
      option("probe.connect", "How queue pairs are connected; auto: by rdma_cm on iWARP, else by verbs.",
             one_of<ProbeConnect>("WAY", {{"auto", ProbeConnect::automatic},
                                          {"verbs", ProbeConnect::verbs},
                                          {"rdma_cm", ProbeConnect::rdma_cm}}),
             at_probe(&ProbeConfig::connect)),
      option("probe.flows", "Connections to each target, each over a path of its own.", number(1, 64),
             at_probe(&ProbeConfig::flows)),
      option("probe.traffic-class", "Traffic class of probes and answers: DSCP * 4 + ECN bits.",
             number(0, 255), at_probe(&ProbeConfig::traffic_class)),
      option("probe.service-level", "Service level of probes and answers.", number(0, 15),
             at_probe(&ProbeConfig::service_level)),
      option("probe.timeout", "Exponent n of the ACK timeout, 4.096 us * 2^n.", number(12, 20),
             at_probe(&ProbeConfig::timeout)),
      option("probe.retry", "Retransmissions before an operation fails.", number(0, 6),
             at_probe(&ProbeConfig::retry)),
      option("probe.max-qps", "Most queue pairs of a device, half of them for peers.", number(4, 4096),
             at_probe(&ProbeConfig::max_qps)),
      option("probe.max-probes-per-second", "Most operations a second over a device; periods get longer.",
             number(1, 100'000), at_probe(&ProbeConfig::max_probes_per_second)),
      option("probe.max-connects-per-second", "Most connections brought about a second over a device.",
             number(1, 1000), at_probe(&ProbeConfig::max_connects_per_second)),
      option("probe.max-cpu-percent",
             "Share of a processor above which the probes over a device become rarer.", number(1, 100),
             at_probe(&ProbeConfig::max_cpu_percent)),
      option("probe.histogram-targets",
             "Up to so many targets have latency histograms of their own; of more, each group has.",
             number(0, 10'000), at_probe(&ProbeConfig::histogram_targets)),
  };
}

/// The table is made for a fixed set of collectors, so the entry is there in every Config that it is used on.
template <typename T>
auto at_collector(std::string name, T CollectorConfig::*member) {
  return [ name = std::move(name), member ](auto& config) -> auto& {
    return config.collectors.find(name)->second.*member;
  };
}

std::vector<Option> collector_options(const CollectorChoice& choice) {
  const std::string name(choice.name);
  const std::string flag = "collector." + name;
  Option enabled =
      option(flag, std::string(choice.help), boolean(), at_collector(name, &CollectorConfig::enabled));
  enabled.key = key_of_flag(flag) + ".enabled";
  return {std::move(enabled), option(flag + ".timeout", "Longest time it may take for one device.",
                                     duration(10ms, 10min), at_collector(name, &CollectorConfig::timeout))};
}

std::vector<Option> ethtool_options() {
  return {
      option("collector.ethtool.interval", "Least time between two readings of one network interface.",
             duration(0ms, 1h), at(&Config::ethtool, &EthtoolConfig::interval)),
      option("collector.ethtool.raw-include",
             "Driver statistics without a curated name: only those whose whole name matches; empty: none.",
             regex(), at(&Config::ethtool, &EthtoolConfig::raw_include)),
  };
}

std::vector<Option> config_check_options() {
  return {option("collector.config_check.interval", "Time from one check of the configuration to the next.",
                 duration(1s, 24h), at(&Config::config_check, &ConfigCheckConfig::interval))};
}

// Further options of a collector, below its own section.
std::vector<Option> resource_options() {
  const auto resource = [](auto member) { return at(&Config::resource, member); };
  return {
      option("collector.resource.detail",
             "Dump tables of RDMA resources; auto: where the kernel is known not to crash on it.",
             one_of<ResourceDetail>("MODE", {{"auto", ResourceDetail::automatic},
                                             {"on", ResourceDetail::on},
                                             {"off", ResourceDetail::off}}),
             resource(&ResourceConfig::detail)),
      option("collector.resource.detail-interval", "Time between two dumps of one device's tables.",
             whole_seconds(1s, 24h), resource(&ResourceConfig::detail_interval)),
      option("collector.resource.detail-timeout", "Longest time that the dumps of one device may take.",
             duration(10ms, 10min), resource(&ResourceConfig::detail_timeout)),
      option("collector.resource.max-qps", "Queue pairs of a device above which they are not dumped.",
             number(0, 10'000'000), resource(&ResourceConfig::max_qps)),
      option("collector.resource.max-entries", "Objects in a table above which it is not dumped.",
             number(0, 10'000'000), resource(&ResourceConfig::max_entries)),
      option("collector.resource.owners",
             "Attribute RDMA resources to nobody, processes, or pods, jobs, containers and units.",
             one_of<ResourceOwners>("KIND", {{"none", ResourceOwners::none},
                                             {"process", ResourceOwners::process},
                                             {"cgroup", ResourceOwners::cgroup}}),
             resource(&ResourceConfig::owners)),
      option("collector.resource.owners-top", "Owners named per device, those with most memory first.",
             number(1, 1000), resource(&ResourceConfig::owners_top)),
  };
}

void append(std::vector<Option>& table, std::vector<Option> rows) {
  std::move(rows.begin(), rows.end(), std::back_inserter(table));
}

}  // namespace

std::string key_of_flag(std::string_view flag) {
  std::string key(flag);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::vector<Option> option_table(std::span<const CollectorChoice> collectors) {
  std::vector<Option> table = web_options();
  append(table, source_options());
  append(table, running_options());
  append(table, probe_peer_options());
  append(table, probe_discovery_options());
  append(table, probe_select_options());
  append(table, probe_options());
  for (const CollectorChoice& choice : collectors) {
    append(table, collector_options(choice));
    if (choice.name == "ethtool") append(table, ethtool_options());
    if (choice.name == "events") append(table, event_options());
    if (choice.name == "config_check") append(table, config_check_options());
    if (choice.name == "resource") append(table, resource_options());
  }
  return table;
}

Config default_config(std::span<const CollectorChoice> collectors) {
  Config config;
  for (const CollectorChoice& choice : collectors) {
    config.collectors.emplace(choice.name, CollectorConfig{.enabled = choice.enabled});
  }
  return config;
}

}  // namespace rdma_exporter::config
