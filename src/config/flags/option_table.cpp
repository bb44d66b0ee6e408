// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/option_table.h"

#include <algorithm>

#include "config/flags/option_rows.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

constexpr auto kYear = 8760h;
constexpr auto kDirectory = "use the path of a directory";
constexpr auto kRecording = "use the path of an archive or a directory";
constexpr unsigned kMany = 1'000'000;

void add_web_options(OptionRows& rows) {
  rows.add("web.listen-address", "Address to serve on.", list_of(listen_address(), 1),
           at<&Config::web, &WebConfig::listen_addresses>());
  rows.add("web.systemd-socket", "Serve on the sockets that systemd passes, not on web.listen_address.",
           boolean(), at<&Config::web, &WebConfig::systemd_socket>());
  rows.add("web.config.file", "File with TLS, passwords, headers, rate limit (exporter-toolkit's format).",
           text("FILE", "use the path of a file"), at<&Config::web, &WebConfig::config_file>());
  rows.add("web.telemetry-path", "Path that metrics are served at.", telemetry_path(),
           at<&Config::web, &WebConfig::telemetry_path>());
  rows.add("web.max-connections", "Connections open at the same time.", number(1, 10'000),
           at<&Config::web, &WebConfig::max_connections>());
  rows.add("web.max-requests-per-connection", "Requests after which a connection is closed.",
           number(1, 1'000'000), at<&Config::web, &WebConfig::max_requests_per_connection>());
  rows.add("web.read-timeout", "Time a client has to send a whole request, or for the TLS handshake.",
           duration(10ms, 1h), at<&Config::web, &WebConfig::read_timeout>());
  rows.add("web.write-timeout", "Time a client has to take a whole response.", duration(10ms, 1h),
           at<&Config::web, &WebConfig::write_timeout>());
  rows.add("web.idle-timeout", "Time a connection is kept between two requests.", duration(10ms, 24h),
           at<&Config::web, &WebConfig::idle_timeout>());
  rows.add("web.max-header-bytes", "Longest request header.", number(1024, 1'048'576),
           at<&Config::web, &WebConfig::max_header_bytes>());
  rows.add("web.openmetrics-created",
           "Serve _created series in OpenMetrics, for what the exporter counts itself.", boolean(),
           at<&Config::web, &WebConfig::openmetrics_created>());
  rows.add("web.enable-lifecycle", "Load the configuration anew on POST /-/reload, as on SIGHUP.", boolean(),
           at<&Config::web, &WebConfig::enable_lifecycle>());
}

void add_source_options(OptionRows& rows) {
  rows.add("path.sysfs", "Where sysfs is mounted.", filled_text("DIR", kDirectory),
           at<&Config::path, &PathConfig::sysfs>());
  rows.add("path.procfs", "Where procfs is mounted.", filled_text("DIR", kDirectory),
           at<&Config::path, &PathConfig::procfs>());
  rows.add("replay", "Serve this recording, an archive of `capture` or a directory, instead of this host.",
           text("PATH", kRecording), at<&Config::replay>());
  rows.add(
      "netlink", "Ask the kernel over RDMA netlink; auto: when path.sysfs is a real sysfs.",
      one_of<NetlinkMode>(
          "MODE", {{"auto", NetlinkMode::automatic}, {"on", NetlinkMode::on}, {"off", NetlinkMode::off}}),
      at<&Config::netlink>());
  rows.add("device.include", "Only devices whose whole name matches.", regex(),
           at<&Config::device, &DeviceConfig::include>());
  rows.add("device.exclude", "No devices whose whole name matches.", regex(),
           at<&Config::device, &DeviceConfig::exclude>());
  rows.add("device.forget-after", "Time after which a device that vanished is no longer reported as down.",
           whole_seconds(0s, kYear), at<&Config::device, &DeviceConfig::forget_after>());
  rows.add(
      "raw", "Kernel counters in the raw families: those without a curated name, all, or none.",
      one_of<RawPolicy>(
          "POLICY", {{"unmapped", RawPolicy::unmapped}, {"all", RawPolicy::all}, {"none", RawPolicy::none}}),
      at<&Config::raw>());
}

void add_event_options(OptionRows& rows) {
  rows.add("collector.events.async",
           "Listen to the devices' asynchronous events; auto: where that does not hold up their removal.",
           one_of<AsyncEventsPolicy>("MODE", {{"auto", AsyncEventsPolicy::automatic},
                                              {"on", AsyncEventsPolicy::on},
                                              {"off", AsyncEventsPolicy::off}}),
           at<&Config::async_events>());
}

void add_running_options(OptionRows& rows) {
  rows.add("textfile",
           "Write the metrics to this file, for the textfile collector of node_exporter; listen nowhere.",
           text("FILE", "use the path of a file"), at<&Config::textfile>());
  rows.add("interval", "Time from one write of the text file to the next.", duration(1s, 1h),
           at<&Config::interval>());
  rows.add("scrape.timeout", "Longest time a scrape may take; what is late is left out.",
           duration(10ms, 10min), at<&Config::scrape, &ScrapeConfig::timeout>());
  rows.add("scrape.timeout-offset", "Taken off the timeout that the scraper announces.", duration(0ms, 1min),
           at<&Config::scrape, &ScrapeConfig::timeout_offset>());
  rows.add("limits.workers", "Most threads that read devices.", number(1, 1024),
           at<&Config::limits, &LimitsConfig::workers>());
  rows.add("limits.series-per-device", "Most series of one device; more are dropped and counted.",
           number(1, kMany), at<&Config::limits, &LimitsConfig::series_per_device>());
  rows.add("limits.kept-files", "Most counter files kept open between scrapes; 0: none.", number(0, kMany),
           at<&Config::limits, &LimitsConfig::kept_files>());
  rows.add("limits.page-bytes",
           "Longest page before compression; families that do not fit are left out and counted.",
           number(65'536, 1'073'741'824), at<&Config::limits, &LimitsConfig::page_bytes>());
  rows.add("limits.pages-in-flight-bytes",
           "Bytes of pages that clients have not taken yet, from which on scrapes get 503.",
           number(65'536, 1'073'741'824), at<&Config::limits, &LimitsConfig::pages_in_flight_bytes>());
  rows.add("log.level", "Least severity that is logged.",
           one_of<LogLevel>("LEVEL", {{"debug", LogLevel::debug},
                                      {"info", LogLevel::info},
                                      {"warn", LogLevel::warn},
                                      {"error", LogLevel::error}}),
           at<&Config::log, &LogConfig::level>());
  rows.add("log.format", "Form of a log line.",
           one_of<LogFormat>("FORMAT", {{"logfmt", LogFormat::logfmt}, {"json", LogFormat::json}}),
           at<&Config::log, &LogConfig::format>());
}

template <auto... members>
constexpr auto at_probe() {
  return at<&Config::probe, members...>();
}

// Peers that nobody writes down.
void add_probe_discovery_options(OptionRows& rows) {
  using Discovery = ProbeDiscoveryConfig;

  rows.add("probe.discovery.files",
           "Files with peers, in the JSON of Prometheus' file_sd; * in the last part.",
           list_of(filled_text("PATTERN", "use a path"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::files>());
  rows.add("probe.discovery.names", "Names in DNS whose addresses are all peers: NAME or NAME:PORT.",
           list_of(filled_text("NAME", "use a name"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::names>());
  rows.add("probe.discovery.urls", "Servers of lists of peers, in the JSON of Prometheus' http_sd.",
           list_of(filled_text("URL", "use http:// or https://"), 0),
           at_probe<&ProbeConfig::discovery, &Discovery::urls>());
  rows.add("probe.discovery.ca-file", "Authority of https servers; empty: those that the host trusts.",
           text("FILE", "use the path of a file"), at_probe<&ProbeConfig::discovery, &Discovery::ca_file>());
  rows.add("probe.discovery.refresh", "Time between two readings; a changed file is read at once.",
           whole_seconds(1s, 24h), at_probe<&ProbeConfig::discovery, &Discovery::refresh>());
  rows.add("probe.discovery.port", "Port of all peers found; 0: the one in the list, or 9401.",
           number(0, 65535), at_probe<&ProbeConfig::discovery, &Discovery::port>());
}

// Whom of them.
void add_probe_select_options(OptionRows& rows) {
  using Select = ProbeSelectConfig;

  rows.add("probe.select.ring", "Peers found that are probed always, the next ones in a circle of all hosts.",
           number(0, 1000), at_probe<&ProbeConfig::select, &Select::ring>());
  rows.add("probe.select.rotate", "Peers found that are probed for an epoch, others in the next one.",
           number(0, 1000), at_probe<&ProbeConfig::select, &Select::rotate>());
  rows.add("probe.select.epoch", "Length of an epoch.", whole_seconds(10s, 24h),
           at_probe<&ProbeConfig::select, &Select::epoch>());
  rows.add("probe.select.label", "Label that says which peers are of one kind; each kind is a circle.",
           text("LABEL", "use the name of a label"), at_probe<&ProbeConfig::select, &Select::label>());
  rows.add(
      "probe.select.scope", "Peers of which kinds are probed: this host's, others, or both.",
      list_of(one_of<ProbeScope>("SCOPE", {{"same", ProbeScope::same}, {"other", ProbeScope::other}}), 1),
      at_probe<&ProbeConfig::select, &Select::scopes>());
  rows.add("probe.hostmesh", "This host's devices probe each other.", boolean(),
           at_probe<&ProbeConfig::hostmesh>());
}

// Who is probed, and who may probe this host.
void add_probe_peer_options(OptionRows& rows) {
  const auto file = [] { return text("FILE", "use the path of a file"); };

  rows.add("probe.targets", "Peers whose latency over RC verbs is measured; see docs/PROBE.md.",
           list_of(probe_target(), 0), at_probe<&ProbeConfig::targets>());
  rows.add("probe.responder", "Answer the probes of peers.", boolean(), at_probe<&ProbeConfig::responder>());
  rows.add("probe.listen-address", "Address on which peers agree on their probes with this host.",
           list_of(listen_address(), 1), at_probe<&ProbeConfig::listen_addresses>());
  rows.add("probe.insecure", "Answer every host that asks: listen beyond loopback without credentials.",
           boolean(), at_probe<&ProbeConfig::insecure>());
  rows.add("probe.cert-file", "Certificate of this host for its peers (PEM).", file(),
           at_probe<&ProbeConfig::cert_file>());
  rows.add("probe.key-file", "Key of that certificate.", file(), at_probe<&ProbeConfig::key_file>());
  rows.add("probe.ca-file", "Authority whose certificates peers must have.", file(),
           at_probe<&ProbeConfig::ca_file>());
  rows.add("probe.secret-file", "Secrets that peers share instead of certificates: lines NAME:HEXDIGITS.",
           file(), at_probe<&ProbeConfig::secret_file>());
  rows.add("probe.cluster", "Peers that say another one are refused.", text("NAME", "use a name"),
           at_probe<&ProbeConfig::cluster>());
  rows.add("probe.device-include", "Probe only over devices whose whole name matches.", regex(),
           at_probe<&ProbeConfig::device_include>());
}

void add_probe_options(OptionRows& rows) {
  rows.add("probe.operations", "What is measured; of write and read the first that the peer takes.",
           list_of(one_of<ProbeOperation>("OP", {{"write", ProbeOperation::write},
                                                 {"read", ProbeOperation::read},
                                                 {"echo", ProbeOperation::echo}}),
                   1),
           at_probe<&ProbeConfig::operations>());
  rows.add("probe.interval", "Time between two one-sided operations to a target.", duration(10ms, 1h),
           at_probe<&ProbeConfig::interval>());
  rows.add("probe.echo-interval", "Time between two echoes to a target.", duration(10ms, 1h),
           at_probe<&ProbeConfig::echo_interval>());
  rows.add("probe.connect", "How queue pairs are connected; auto: by rdma_cm on iWARP, else by verbs.",
           one_of<ProbeConnect>("WAY", {{"auto", ProbeConnect::automatic},
                                        {"verbs", ProbeConnect::verbs},
                                        {"rdma_cm", ProbeConnect::rdma_cm}}),
           at_probe<&ProbeConfig::connect>());
  rows.add("probe.flows", "Connections to each target, each over a path of its own.", number(1, 64),
           at_probe<&ProbeConfig::flows>());
  rows.add("probe.traffic-class", "Traffic class of probes and answers: DSCP * 4 + ECN bits.", number(0, 255),
           at_probe<&ProbeConfig::traffic_class>());
  rows.add("probe.service-level", "Service level of probes and answers.", number(0, 15),
           at_probe<&ProbeConfig::service_level>());
  rows.add("probe.timeout", "Exponent n of the ACK timeout, 4.096 us * 2^n.", number(12, 20),
           at_probe<&ProbeConfig::timeout>());
  rows.add("probe.retry", "Retransmissions before an operation fails.", number(0, 6),
           at_probe<&ProbeConfig::retry>());
  rows.add("probe.max-qps", "Most queue pairs of a device, half of them for peers.", number(4, 4096),
           at_probe<&ProbeConfig::max_qps>());
  rows.add("probe.max-probes-per-second", "Most operations a second over a device; periods get longer.",
           number(1, 100'000), at_probe<&ProbeConfig::max_probes_per_second>());
  rows.add("probe.max-connects-per-second", "Most connections brought about a second over a device.",
           number(1, 1000), at_probe<&ProbeConfig::max_connects_per_second>());
  rows.add("probe.max-cpu-percent", "Share of a processor above which the probes over a device become rarer.",
           number(1, 100), at_probe<&ProbeConfig::max_cpu_percent>());
  rows.add("probe.histogram-targets",
           "Up to so many targets have latency histograms of their own; of more, each group has.",
           number(0, 10'000), at_probe<&ProbeConfig::histogram_targets>());
}

void add_collector_options(OptionRows& rows, const CollectorChoice& choice) {
  const std::string flag = "collector." + std::string(choice.name);
  Option& enabled =
      rows.add(flag, choice.help, boolean(), at_collector<&CollectorConfig::enabled>(), choice.name);
  enabled.key += ".enabled";
  rows.add(flag + ".timeout", "Longest time it may take for one device.", duration(10ms, 10min),
           at_collector<&CollectorConfig::timeout>(), choice.name);
}

void add_ethtool_options(OptionRows& rows) {
  rows.add("collector.ethtool.interval", "Least time between two readings of one network interface.",
           duration(0ms, 1h), at<&Config::ethtool, &EthtoolConfig::interval>());
  rows.add("collector.ethtool.raw-include",
           "Driver statistics without a curated name: only those whose whole name matches; empty: none.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_include>());
  rows.add("collector.ethtool.raw-exclude",
           "None of those whose whole name matches; the default leaves out statistics of single rings.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_exclude>());
}

void add_config_check_options(OptionRows& rows) {
  rows.add("collector.config_check.interval", "Time from one check of the configuration to the next.",
           duration(1s, 24h), at<&Config::config_check, &ConfigCheckConfig::interval>());
}

// Further options of a collector, below its own section.
void add_resource_options(OptionRows& rows) {
  rows.add("collector.resource.detail",
           "Dump tables of RDMA resources; auto: where the kernel is known not to crash on it.",
           one_of<ResourceDetail>("MODE", {{"auto", ResourceDetail::automatic},
                                           {"on", ResourceDetail::on},
                                           {"off", ResourceDetail::off}}),
           at<&Config::resource, &ResourceConfig::detail>());
  rows.add("collector.resource.detail-interval", "Time between two dumps of one device's tables.",
           whole_seconds(1s, 24h), at<&Config::resource, &ResourceConfig::detail_interval>());
  rows.add("collector.resource.detail-timeout", "Longest time that the dumps of one device may take.",
           duration(10ms, 10min), at<&Config::resource, &ResourceConfig::detail_timeout>());
  rows.add("collector.resource.max-qps", "Queue pairs of a device above which they are not dumped.",
           number(0, 10'000'000), at<&Config::resource, &ResourceConfig::max_qps>());
  rows.add("collector.resource.max-entries", "Objects in a table above which it is not dumped.",
           number(0, 10'000'000), at<&Config::resource, &ResourceConfig::max_entries>());
  rows.add("collector.resource.owners",
           "Attribute RDMA resources to nobody, processes, or pods, jobs, containers and units.",
           one_of<ResourceOwners>("KIND", {{"none", ResourceOwners::none},
                                           {"process", ResourceOwners::process},
                                           {"cgroup", ResourceOwners::cgroup}}),
           at<&Config::resource, &ResourceConfig::owners>());
  rows.add("collector.resource.owners-top", "Owners named per device, those with most memory first.",
           number(1, 1000), at<&Config::resource, &ResourceConfig::owners_top>());
}

}  // namespace

std::string key_of_flag(std::string_view flag) {
  std::string key(flag);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

Option& OptionRows::add_blank(std::string_view flag, std::string_view help, const std::string& placeholder,
                              const std::string& allowed, bool literal) {
  Option& option = rows_.emplace_back();
  option.flag = flag;
  option.key = key_of_flag(flag);
  option.help = help;
  option.placeholder = placeholder;
  option.allowed = allowed;
  option.literal = literal;
  return option;
}

std::vector<Option> option_table(std::span<const CollectorChoice> collectors) {
  OptionRows rows;
  add_web_options(rows);
  add_source_options(rows);
  add_running_options(rows);
  add_probe_peer_options(rows);
  add_probe_discovery_options(rows);
  add_probe_select_options(rows);
  add_probe_options(rows);
  for (const CollectorChoice& choice : collectors) {
    add_collector_options(rows, choice);
    if (choice.name == "ethtool") add_ethtool_options(rows);
    if (choice.name == "events") add_event_options(rows);
    if (choice.name == "config_check") add_config_check_options(rows);
    if (choice.name == "resource") add_resource_options(rows);
  }
  return std::move(rows).take();
}

Config default_config(std::span<const CollectorChoice> collectors) {
  Config config;
  for (const CollectorChoice& choice : collectors) {
    config.collectors.emplace(choice.name, CollectorConfig{.enabled = choice.enabled});
  }
  return config;
}

}  // namespace rdma_exporter::config
