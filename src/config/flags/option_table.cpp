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
  rows.add("web.listen-address", "Address to listen on.", list_of(listen_address(), 1),
           at<&Config::web, &WebConfig::listen_addresses>());
  rows.add("web.systemd-socket", "Listen on the sockets that systemd passes, instead of web.listen_address.",
           boolean(), at<&Config::web, &WebConfig::systemd_socket>());
  rows.add("web.config.file",
           "File with TLS, password, header and rate limit settings (exporter-toolkit format).",
           text("FILE", "use the path of a file"), at<&Config::web, &WebConfig::config_file>());
  rows.add("web.telemetry-path", "Path under which metrics are served.", telemetry_path(),
           at<&Config::web, &WebConfig::telemetry_path>());
  rows.add("web.max-connections", "Maximum number of open connections.", number(1, 10'000),
           at<&Config::web, &WebConfig::max_connections>());
  rows.add("web.max-requests-per-connection", "Number of requests after which a connection is closed.",
           number(1, 1'000'000), at<&Config::web, &WebConfig::max_requests_per_connection>());
  rows.add("web.read-timeout",
           "Maximum time for a client to send a whole request, or to complete the TLS handshake.",
           duration(10ms, 1h), at<&Config::web, &WebConfig::read_timeout>());
  rows.add("web.write-timeout", "Maximum time for a client to receive a whole response.", duration(10ms, 1h),
           at<&Config::web, &WebConfig::write_timeout>());
  rows.add("web.idle-timeout", "Maximum time that a connection is kept open between two requests.",
           duration(10ms, 24h), at<&Config::web, &WebConfig::idle_timeout>());
  rows.add("web.max-header-bytes", "Maximum size of a request header in bytes.", number(1024, 1'048'576),
           at<&Config::web, &WebConfig::max_header_bytes>());
  rows.add("web.openmetrics-created",
           "Export _created series in OpenMetrics for what the exporter itself counts.", boolean(),
           at<&Config::web, &WebConfig::openmetrics_created>());
  rows.add("web.enable-lifecycle", "Reload the configuration on POST /-/reload, as on SIGHUP.", boolean(),
           at<&Config::web, &WebConfig::enable_lifecycle>());
}

void add_source_options(OptionRows& rows) {
  rows.add("path.sysfs", "Mount point of sysfs.", filled_text("DIR", kDirectory),
           at<&Config::path, &PathConfig::sysfs>());
  rows.add("path.procfs", "Mount point of procfs.", filled_text("DIR", kDirectory),
           at<&Config::path, &PathConfig::procfs>());
  rows.add("replay",
           "Serve this recording (an archive made by `capture`, or a directory) instead of this host.",
           text("PATH", kRecording), at<&Config::replay>());
  rows.add(
      "netlink",
      "Query the kernel (netlink, ethtool, verbs) in addition to reading files: on, off, or auto (on if "
      "path.sysfs "
      "is a real sysfs).",
      one_of<NetlinkMode>(
          "MODE", {{"auto", NetlinkMode::automatic}, {"on", NetlinkMode::on}, {"off", NetlinkMode::off}}),
      at<&Config::netlink>());
  rows.add("device.include", "Include only devices whose whole name matches.", regex(),
           at<&Config::device, &DeviceConfig::include>());
  rows.add("device.exclude", "Exclude devices whose whole name matches.", regex(),
           at<&Config::device, &DeviceConfig::exclude>());
  rows.add("device.forget-after",
           "Time after which a device that has disappeared is no longer reported as down.",
           whole_seconds(0s, kYear), at<&Config::device, &DeviceConfig::forget_after>());
  rows.add(
      "raw",
      "Counters to export under the kernel's names: unmapped (those without a family of their own), all or "
      "none.",
      one_of<RawPolicy>(
          "POLICY", {{"unmapped", RawPolicy::unmapped}, {"all", RawPolicy::all}, {"none", RawPolicy::none}}),
      at<&Config::raw>());
}

void add_metrics_options(OptionRows& rows, std::span<const CollectorChoice> collectors) {
  std::vector<std::string_view> families;
  for (const CollectorChoice& choice : collectors)
    families.insert(families.end(), choice.families.begin(), choice.families.end());
  const auto family = regex_for(std::move(families), "family of the collectors (see --describe)");
  rows.add("metrics.set", "Families to export: lean (those that alerts and dashboards use) or full (all).",
           one_of<core::MetricSet>("SET", {{"lean", core::MetricSet::lean}, {"full", core::MetricSet::full}}),
           at<&Config::metrics, &MetricsConfig::set>());
  rows.add("metrics.include", "Export only those collector families of the set whose whole name matches.",
           family, at<&Config::metrics, &MetricsConfig::include>());
  rows.add("metrics.exclude", "Do not export collector families whose whole name matches.", family,
           at<&Config::metrics, &MetricsConfig::exclude>());
}

void add_event_options(OptionRows& rows) {
  rows.add("collector.events.async",
           "Listen for asynchronous events of the devices: on, off, or auto (where that does not delay the "
           "removal of a device).",
           one_of<AsyncEventsPolicy>("MODE", {{"auto", AsyncEventsPolicy::automatic},
                                              {"on", AsyncEventsPolicy::on},
                                              {"off", AsyncEventsPolicy::off}}),
           at<&Config::async_events>());
}

void add_running_options(OptionRows& rows) {
  rows.add(
      "textfile",
      "Write the metrics to this file for the textfile collector of node_exporter, instead of serving them.",
      text("FILE", "use the path of a file"), at<&Config::textfile>());
  rows.add("interval", "Time between two writes of the text file.", duration(1s, 1h),
           at<&Config::interval>());
  rows.add("scrape.timeout", "Maximum duration of a scrape; late results are left out.",
           duration(10ms, 10min), at<&Config::scrape, &ScrapeConfig::timeout>());
  rows.add("scrape.timeout-offset", "Time to subtract from the timeout that the scraper announces.",
           duration(0ms, 1min), at<&Config::scrape, &ScrapeConfig::timeout_offset>());
  rows.add("limits.workers", "Maximum number of threads that read devices.", number(1, 1024),
           at<&Config::limits, &LimitsConfig::workers>());
  rows.add("limits.series-per-device",
           "Maximum number of series of one device; further ones are dropped and counted.", number(1, kMany),
           at<&Config::limits, &LimitsConfig::series_per_device>());
  rows.add("limits.kept-files", "Maximum number of counter files kept open between scrapes; 0: none.",
           number(0, kMany), at<&Config::limits, &LimitsConfig::kept_files>());
  rows.add("limits.page-bytes",
           "Maximum size of a page before compression, in bytes; families that do not fit are left out and "
           "counted.",
           number(65'536, 1'073'741'824), at<&Config::limits, &LimitsConfig::page_bytes>());
  rows.add("limits.pages-in-flight-bytes",
           "Answer with status 503 while clients have yet to receive this many bytes of pages.",
           number(65'536, 1'073'741'824), at<&Config::limits, &LimitsConfig::pages_in_flight_bytes>());
  rows.add("log.level", "Lowest severity to log: debug, info, warn or error.",
           one_of<LogLevel>("LEVEL", {{"debug", LogLevel::debug},
                                      {"info", LogLevel::info},
                                      {"warn", LogLevel::warn},
                                      {"error", LogLevel::error}}),
           at<&Config::log, &LogConfig::level>());
  rows.add("log.format", "Log format: logfmt or json.",
           one_of<LogFormat>("FORMAT", {{"logfmt", LogFormat::logfmt}, {"json", LogFormat::json}}),
           at<&Config::log, &LogConfig::format>());
}

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

void add_probe_options(OptionRows& rows) {
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

void add_probe_limits(OptionRows& rows) {
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

void add_collector_options(OptionRows& rows, const CollectorChoice& choice) {
  const std::string flag = "collector." + std::string(choice.name);
  Option& enabled =
      rows.add(flag, choice.help, boolean(), at_collector<&CollectorConfig::enabled>(), choice.name);
  enabled.key += ".enabled";
  rows.add(flag + ".timeout", "Maximum time that this collector may take for one device.",
           duration(10ms, 10min), at_collector<&CollectorConfig::timeout>(), choice.name);
}

void add_ethtool_options(OptionRows& rows) {
  rows.add("collector.ethtool.interval", "Minimum time between two reads of one network interface.",
           duration(0ms, 1h), at<&Config::ethtool, &EthtoolConfig::interval>());
  rows.add("collector.ethtool.raw-include",
           "Driver statistics without a family of their own to add to the lean set: those whose whole name "
           "matches.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_include>());
  rows.add("collector.ethtool.raw-exclude",
           "Driver statistics to leave out: those whose whole name matches; by default the statistics of "
           "single rings.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_exclude>());
}

void add_config_check_options(OptionRows& rows) {
  rows.add("collector.config_check.interval",
           "Time between two checks of the configuration. A device whose settings the kernel reports as "
           "changed is checked within a minute.",
           duration(1s, 24h), at<&Config::config_check, &ConfigCheckConfig::interval>());
}

void add_module_options(OptionRows& rows) {
  rows.add("collector.module.interval", "Minimum time between two reads of one module.", duration(10s, 24h),
           at<&Config::module, &ModuleConfig::interval>());
}

void add_burst_options(OptionRows& rows) {
  rows.add("collector.burst.window", "Length of a window.", duration(10ms, 1s),
           at<&Config::burst, &BurstConfig::window>());
  rows.add("collector.burst.devices", "Sample only RDMA devices whose whole name matches.", regex(),
           at<&Config::burst, &BurstConfig::devices>());
  rows.add("collector.burst.pause",
           "Sample PFC pause times in windows: auto (while there is pause), off, or always.",
           one_of<BurstPause>(
               "MODE",
               {{"auto", BurstPause::automatic}, {"off", BurstPause::off}, {"always", BurstPause::always}}),
           at<&Config::burst, &BurstConfig::pause>());
  rows.add("collector.burst.max-cpu-percent",
           "Maximum CPU usage for all devices together in percent of one CPU; windows get longer beyond it.",
           number(1, 100), at<&Config::burst, &BurstConfig::max_cpu_percent>());
}

// Additional options of the collector resource, in its section.
void add_resource_options(OptionRows& rows) {
  rows.add("collector.resource.detail",
           "Dump tables of RDMA resources: on, off, or auto (on if the kernel is known not to crash on it).",
           one_of<ResourceDetail>("MODE", {{"auto", ResourceDetail::automatic},
                                           {"on", ResourceDetail::on},
                                           {"off", ResourceDetail::off}}),
           at<&Config::resource, &ResourceConfig::detail>());
  rows.add("collector.resource.detail-interval", "Time between two dumps of one device's tables.",
           whole_seconds(1s, 24h), at<&Config::resource, &ResourceConfig::detail_interval>());
  rows.add("collector.resource.detail-timeout", "Maximum time for the dumps of one device.",
           duration(10ms, 10min), at<&Config::resource, &ResourceConfig::detail_timeout>());
  rows.add("collector.resource.max-qps",
           "Maximum number of queue pairs of a device; if there are more, they are not dumped.",
           number(0, 10'000'000), at<&Config::resource, &ResourceConfig::max_qps>());
  rows.add("collector.resource.max-entries",
           "Maximum number of objects in a table; larger tables are not dumped.", number(0, 10'000'000),
           at<&Config::resource, &ResourceConfig::max_entries>());
  rows.add("collector.resource.owners",
           "Attribute RDMA resources to nobody (none), to each process, or to pods, jobs, containers and "
           "units (cgroup).",
           one_of<ResourceOwners>("KIND", {{"none", ResourceOwners::none},
                                           {"process", ResourceOwners::process},
                                           {"cgroup", ResourceOwners::cgroup}}),
           at<&Config::resource, &ResourceConfig::owners>());
  rows.add("collector.resource.owners-top",
           "Maximum number of owners named per device, those with the most memory first.", number(1, 1000),
           at<&Config::resource, &ResourceConfig::owners_top>());
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
  add_metrics_options(rows, collectors);
  add_running_options(rows);
  add_probe_peer_options(rows);
  add_probe_discovery_options(rows);
  add_probe_select_options(rows);
  add_probe_options(rows);
  add_probe_limits(rows);
  for (const CollectorChoice& choice : collectors) {
    add_collector_options(rows, choice);
    if (choice.name == "ethtool") add_ethtool_options(rows);
    if (choice.name == "events") add_event_options(rows);
    if (choice.name == "config_check") add_config_check_options(rows);
    if (choice.name == "resource") add_resource_options(rows);
    if (choice.name == "module") add_module_options(rows);
    if (choice.name == "burst") add_burst_options(rows);
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
