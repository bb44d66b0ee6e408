// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/print.h"

#include <gtest/gtest.h>

#include "tests/unit/config/fixture.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

TEST(ConfigPrint, WritesTheDefaultsAsYaml) {
  EXPECT_EQ(print(parse_words({})->config), R"(web:
  listen_address:
    - ":9400"
  systemd_socket: false
  config:
    file: ""
  telemetry_path: /metrics
  max_connections: 128
  max_requests_per_connection: 1000
  read_timeout: 10s
  write_timeout: 10s
  idle_timeout: 2m
  max_header_bytes: 16384
  openmetrics_created: false
  enable_lifecycle: false
path:
  sysfs: /sys
  procfs: /proc
replay: ""
netlink: auto
device:
  include: ""
  exclude: ""
  forget_after: 24h
raw: unmapped
textfile: ""
interval: 15s
scrape:
  timeout: 8s
  timeout_offset: 500ms
limits:
  workers: 256
  series_per_device: 5000
  kept_files: 16384
  page_bytes: 67108864
  pages_in_flight_bytes: 67108864
log:
  level: info
  format: logfmt
probe:
  targets: []
  responder: false
  listen_address:
    - ":9401"
  insecure: false
  cert_file: ""
  key_file: ""
  ca_file: ""
  secret_file: ""
  cluster: ""
  device_include: ""
  discovery:
    files: []
    names: []
    urls: []
    ca_file: ""
    refresh: 30s
    port: 0
  select:
    ring: 4
    rotate: 4
    epoch: 5m
    label: rail
    scope:
      - same
  hostmesh: false
  operations:
    - write
    - read
    - echo
  interval: 1s
  echo_interval: 5s
  connect: auto
  flows: 1
  traffic_class: 106
  service_level: 0
  timeout: 14
  retry: 3
  max_qps: 256
  max_probes_per_second: 500
  max_connects_per_second: 10
  max_cpu_percent: 10
  histogram_targets: 64
collector:
  device:
    enabled: true
    timeout: 5s
  hw_counters:
    enabled: false
    timeout: 5s
)");
}

TEST(ConfigPrint, QuotesWhatAnotherReaderWouldTakeForSomethingElse) {
  Config config = parse_words({})->config;
  config.netlink = NetlinkMode::on;
  config.device.include = core::Pattern(R"(a"b\d #: {é})");
  config.replay = "10";
  const std::string text = print(config);
  EXPECT_NE(text.find("netlink: \"on\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  include: \"a\\\"b\\\\d #: {é}\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("replay: \"10\"\n"), std::string::npos) << text;
}

TEST(ConfigPrint, IsReadAgainAsTheSameConfiguration) {
  Config config = parse_words({})->config;
  config.web = {{"127.0.0.1:0", "unix:/run/x.sock"}, true, "w.yml", "/m", 3, 7, 1h, 5s, 24h, 6000, true};
  config.scrape = {61'001ms, 0ms};
  config.raw = RawPolicy::none;
  config.netlink = NetlinkMode::off;
  config.log = {LogLevel::error, LogFormat::json};
  config.collectors = {{"device", {false, 13ms}}, {"hw_counters", {true, 10min}}};
  for (const char* value :
       {"",    "null", "~",   "true",  "on", "10",           "5s",       "0x1f",         "1e3", " a ", "# a",
        "- a", "a: b", "'a'", "\"a\"", "\\", "&a",           "*",        "!a",           "[a]", "{a}", "%",
        "@",   "`",    "---", "...",   "é",  "\xEF\xBB\xBF", "\xC2\x85", "\xE2\x80\xA8", "<<",  "=",   "|",
        ">"}) {
    config.replay = value;
    config.path = {value[0] == '\0' ? "/" : value, "/p"};
    const auto again = load_yaml(print(config));
    ASSERT_TRUE(again) << value << ": " << message(again);
    EXPECT_EQ(*again, config) << value;
  }
}

TEST(ConfigHelp, ShowsEveryFlagWithItsDefault) {
  EXPECT_EQ(help_text(kCollectors), R"(Usage: rdma_exporter [FLAG]...
       rdma_exporter COMMAND [FLAG]... [ARGUMENT]...
Prometheus exporter for hosts with RDMA devices.

Each flag below the first group is also a key of the YAML file that --config.file names: dots are levels and
- becomes _ (web.telemetry_path). The key of --collector.NAME is collector.NAME.enabled. A flag wins over the
file, the file over the default.

Without a command:
  -h, --help
      Print this text.
  --version
      Print the version.
  --config.file=FILE
      Read this YAML file.
  --describe=FORMAT
      Describe this program: its metrics as markdown or json, its flags as man or bash-completion.
  --check-config
      Check flags and file, serve nothing.
  --print-config
      Print the resulting configuration as YAML.
  --once
      Collect once and print the metrics.

  --web.listen-address=ADDRESS  (default :9400, repeatable)
      Address to serve on.
  --[no-]web.systemd-socket  (default false)
      Serve on the sockets that systemd passes, not on web.listen_address.
  --web.config.file=FILE
      File with TLS, passwords, headers, rate limit (exporter-toolkit's format).
  --web.telemetry-path=PATH  (default /metrics)
      Path that metrics are served at.
  --web.max-connections=NUMBER  (default 128)
      Connections open at the same time.
  --web.max-requests-per-connection=NUMBER  (default 1000)
      Requests after which a connection is closed.
  --web.read-timeout=DURATION  (default 10s)
      Time a client has to send a whole request, or for the TLS handshake.
  --web.write-timeout=DURATION  (default 10s)
      Time a client has to take a whole response.
  --web.idle-timeout=DURATION  (default 2m)
      Time a connection is kept between two requests.
  --web.max-header-bytes=NUMBER  (default 16384)
      Longest request header.
  --[no-]web.openmetrics-created  (default false)
      Serve _created series in OpenMetrics, for what the exporter counts itself.
  --[no-]web.enable-lifecycle  (default false)
      Load the configuration anew on POST /-/reload, as on SIGHUP.

  --path.sysfs=DIR  (default /sys)
      Where sysfs is mounted.
  --path.procfs=DIR  (default /proc)
      Where procfs is mounted.

  --replay=PATH
      Serve this recording, an archive of `capture` or a directory, instead of this host.
  --netlink=MODE  (default auto)
      Ask the kernel over RDMA netlink; auto: when path.sysfs is a real sysfs.

  --device.include=REGEX
      Only devices whose whole name matches.
  --device.exclude=REGEX
      No devices whose whole name matches.
  --device.forget-after=DURATION  (default 24h)
      Time after which a device that vanished is no longer reported as down.

  --raw=POLICY  (default unmapped)
      Kernel counters in the raw families: those without a curated name, all, or none.
  --textfile=FILE
      Write the metrics to this file, for the textfile collector of node_exporter; listen nowhere.
  --interval=DURATION  (default 15s)
      Time from one write of the text file to the next.

  --scrape.timeout=DURATION  (default 8s)
      Longest time a scrape may take; what is late is left out.
  --scrape.timeout-offset=DURATION  (default 500ms)
      Taken off the timeout that the scraper announces.

  --limits.workers=NUMBER  (default 256)
      Most threads that read devices.
  --limits.series-per-device=NUMBER  (default 5000)
      Most series of one device; more are dropped and counted.
  --limits.kept-files=NUMBER  (default 16384)
      Most counter files kept open between scrapes; 0: none.
  --limits.page-bytes=NUMBER  (default 67108864)
      Longest page before compression; families that do not fit are left out and counted.
  --limits.pages-in-flight-bytes=NUMBER  (default 67108864)
      Bytes of pages that clients have not taken yet, from which on scrapes get 503.

  --log.level=LEVEL  (default info)
      Least severity that is logged.
  --log.format=FORMAT  (default logfmt)
      Form of a log line.

  --probe.targets=TARGET  (repeatable)
      Peers whose latency over RC verbs is measured; see docs/PROBE.md.
  --[no-]probe.responder  (default false)
      Answer the probes of peers.
  --probe.listen-address=ADDRESS  (default :9401, repeatable)
      Address on which peers agree on their probes with this host.
  --[no-]probe.insecure  (default false)
      Answer every host that asks: listen beyond loopback without credentials.
  --probe.cert-file=FILE
      Certificate of this host for its peers (PEM).
  --probe.key-file=FILE
      Key of that certificate.
  --probe.ca-file=FILE
      Authority whose certificates peers must have.
  --probe.secret-file=FILE
      Secrets that peers share instead of certificates: lines NAME:HEXDIGITS.
  --probe.cluster=NAME
      Peers that say another one are refused.
  --probe.device-include=REGEX
      Probe only over devices whose whole name matches.
  --probe.discovery.files=PATTERN  (repeatable)
      Files with peers, in the JSON of Prometheus' file_sd; * in the last part.
  --probe.discovery.names=NAME  (repeatable)
      Names in DNS whose addresses are all peers: NAME or NAME:PORT.
  --probe.discovery.urls=URL  (repeatable)
      Servers of lists of peers, in the JSON of Prometheus' http_sd.
  --probe.discovery.ca-file=FILE
      Authority of https servers; empty: those that the host trusts.
  --probe.discovery.refresh=DURATION  (default 30s)
      Time between two readings; a changed file is read at once.
  --probe.discovery.port=NUMBER  (default 0)
      Port of all peers found; 0: the one in the list, or 9401.
  --probe.select.ring=NUMBER  (default 4)
      Peers found that are probed always, the next ones in a circle of all hosts.
  --probe.select.rotate=NUMBER  (default 4)
      Peers found that are probed for an epoch, others in the next one.
  --probe.select.epoch=DURATION  (default 5m)
      Length of an epoch.
  --probe.select.label=LABEL  (default rail)
      Label that says which peers are of one kind; each kind is a circle.
  --probe.select.scope=SCOPE  (default same, repeatable)
      Peers of which kinds are probed: this host's, others, or both.
  --[no-]probe.hostmesh  (default false)
      This host's devices probe each other.
  --probe.operations=OP  (default write, default read, default echo, repeatable)
      What is measured; of write and read the first that the peer takes.
  --probe.interval=DURATION  (default 1s)
      Time between two one-sided operations to a target.
  --probe.echo-interval=DURATION  (default 5s)
      Time between two echoes to a target.
  --probe.connect=WAY  (default auto)
      How queue pairs are connected; auto: by rdma_cm on iWARP, else by verbs.
  --probe.flows=NUMBER  (default 1)
      Connections to each target, each over a path of its own.
  --probe.traffic-class=NUMBER  (default 106)
      Traffic class of probes and answers: DSCP * 4 + ECN bits.
  --probe.service-level=NUMBER  (default 0)
      Service level of probes and answers.
  --probe.timeout=NUMBER  (default 14)
      Exponent n of the ACK timeout, 4.096 us * 2^n.
  --probe.retry=NUMBER  (default 3)
      Retransmissions before an operation fails.
  --probe.max-qps=NUMBER  (default 256)
      Most queue pairs of a device, half of them for peers.
  --probe.max-probes-per-second=NUMBER  (default 500)
      Most operations a second over a device; periods get longer.
  --probe.max-connects-per-second=NUMBER  (default 10)
      Most connections brought about a second over a device.
  --probe.max-cpu-percent=NUMBER  (default 10)
      Share of a processor above which the probes over a device become rarer.
  --probe.histogram-targets=NUMBER  (default 64)
      Up to so many targets have latency histograms of their own; of more, each group has.

  --[no-]collector.device  (default true)
      Facts about each device.
  --collector.device.timeout=DURATION  (default 5s)
      Longest time it may take for one device.
  --[no-]collector.hw_counters  (default false)
      Counters of the driver.
  --collector.hw_counters.timeout=DURATION  (default 5s)
      Longest time it may take for one device.
)");
}

}  // namespace
}  // namespace rdma_exporter::config
