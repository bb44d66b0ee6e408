// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/option_table.h"

#include <algorithm>

#include "config/flags/option_rows.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

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
      "Query the kernel (netlink, ethtool, verbs) in addition to reading files: on, off, or auto "
      "(on if path.sysfs is a real sysfs).",
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
  add_probe_options(rows);
  for (const CollectorChoice& choice : collectors) add_collector_options(rows, choice);
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
