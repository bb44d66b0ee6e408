// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include "tests/unit/config/fixture.h"

// The file: which value ends up where, and every message about a wrong key or value as a whole.
namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

std::string problem(std::string_view text) { return message(load_yaml(text)); }

TEST(ConfigFile, SetsEveryOption) {
  const auto config = load_yaml(R"(# a comment
web:
  listen_address: ["127.0.0.1:1", "[::1]:2"]
  systemd_socket: true
  config: {file: w.yml}
  telemetry_path: /m
  max_connections: 3
  max_requests_per_connection: 7
  read_timeout: 4s
  write_timeout: 8s
  idle_timeout: "5s"
  max_header_bytes: 6000
  openmetrics_created: true
path: {sysfs: /s, procfs: '/p'}
scrape:
  timeout: 7s
  timeout_offset: 8ms
device:
  include: mlx5_.*
  exclude: "rxe[0-9]"
  forget_after: 9h
limits: {workers: 10, series_per_device: 11, kept_files: 12, page_bytes: 70000, pages_in_flight_bytes: 80000}
raw: all
netlink: off
replay: /r
textfile: /t.prom
interval: 14s
log: {level: debug, format: json}
collector:
  device: {enabled: false, timeout: 13s}
  hw_counters:
    enabled: true
)");
  ASSERT_TRUE(config) << message(config);
  Config expected;
  expected.web = {{"127.0.0.1:1", "[::1]:2"}, true, "w.yml", "/m", 3, 7, 4s, 8s, 5s, 6000, true};
  expected.path = {"/s", "/p"};
  expected.scrape = {7s, 8ms};
  expected.device = {core::Pattern("mlx5_.*"), core::Pattern("rxe[0-9]"), 9h};
  expected.limits = {10, 11, 12, 70'000, 80'000};
  expected.raw = RawPolicy::all;
  expected.netlink = NetlinkMode::off;
  expected.replay = "/r";
  expected.textfile = "/t.prom";
  expected.interval = 14s;
  expected.log = {LogLevel::debug, LogFormat::json};
  expected.collectors = {{"device", {false, 13s}}, {"hw_counters", {true, 5s}}};
  EXPECT_EQ(*config, expected);
}

TEST(ConfigFile, MayBeEmptyOrHaveEmptySections) {
  const Config defaults = parse_words({})->config;
  for (const char* text :
       {"", "\n", "# nothing\n", "---\n", "---\n...\n", "{}", "web:\n", "collector:\n  device:\n",
        "\xEF\xBB\xBF# with a byte order mark\n", "web: {}\n"}) {
    const auto config = load_yaml(text);
    ASSERT_TRUE(config) << text << message(config);
    EXPECT_EQ(*config, defaults) << text;
  }
}

TEST(ConfigFile, NamesAnUnknownKeyAndTheNearestOne) {
  EXPECT_EQ(problem("web:\n  telemetrypath: /x\n"),
            "x.yml:2: web.telemetrypath: unknown key (did you mean web.telemetry_path?)");
  EXPECT_EQ(problem("\nweb:\n  listen-address: []\n"),
            "x.yml:3: web.listen-address: unknown key (did you mean web.listen_address?)");
  EXPECT_EQ(problem("webb: {}\n"), "x.yml:1: webb: unknown key (did you mean web?)");
  EXPECT_EQ(problem("collector: {hwcounters: {enabled: true}}\n"),
            "x.yml:1: collector.hwcounters: unknown key (did you mean collector.hw_counters?)");
  EXPECT_EQ(problem("path:\n  frobnicate: 1\n"),
            "x.yml:2: path.frobnicate: unknown key (use the keys sysfs or procfs)");
  EXPECT_EQ(problem("collector: {x: {}}\n"),
            "x.yml:1: collector.x: unknown key (use the keys device or hw_counters)");
  EXPECT_EQ(problem("frobnicate: 1\n"),
            "x.yml:1: frobnicate: unknown key (use the keys web, path, replay, netlink, device, raw, "
            "metrics, textfile, "
            "interval, scrape, "
            "limits, log, probe "
            "or collector)");
  EXPECT_EQ(
      problem("once: true\n"),
      "x.yml:1: once: unknown key (use the keys web, path, replay, netlink, device, raw, metrics, textfile, "
      "interval, scrape, "
      "limits, log, probe or "
      "collector)");
  EXPECT_EQ(problem("web.telemetry_path: /x\n"),
            "x.yml:1: web.telemetry_path: unknown key (keys contain no dots: write a section, with its keys "
            "indented below it)");
  EXPECT_EQ(problem("path:\n  \"\": 1\n"), "x.yml:2: path.: unknown key (use the keys sysfs or procfs)");
  EXPECT_EQ(problem("\"we\\nb\": 1\n"), "x.yml:1: \"we\\x0ab\": unknown key (did you mean web?)");
}

TEST(ConfigFile, RefusesAKeyGivenTwice) {
  EXPECT_EQ(problem("raw: all\nlog: {}\nraw: all\n"), "x.yml:3: raw: is given twice (first on line 1)");
  EXPECT_EQ(problem("web:\n  read_timeout: 1s\nweb:\n  idle_timeout: 1s\n"),
            "x.yml:3: web: is given twice (first on line 1)");
  EXPECT_EQ(problem("path: {sysfs: /a, sysfs: /a}\n"),
            "x.yml:1: path.sysfs: is given twice (first on line 1)");
}

TEST(ConfigFile, RefusesTheWrongKindOfValue) {
  EXPECT_EQ(problem("web:\n  telemetry_path:\n    - /x\n"),
            "x.yml:2: web.telemetry_path: is a list (use a path such as /metrics)");
  EXPECT_EQ(problem("web:\n  telemetry_path: {a: b}\n"),
            "x.yml:2: web.telemetry_path: is a section (use a path such as /metrics)");
  EXPECT_EQ(problem("web:\n  telemetry_path:\n"),
            "x.yml:2: web.telemetry_path: has no value (use a path such as /metrics)");
  EXPECT_EQ(problem("raw: ~\n"), "x.yml:1: raw: has no value (use unmapped, all or none)");
  EXPECT_EQ(problem("web: 5\n"),
            "x.yml:1: web: is a single value (use the keys listen_address, systemd_socket, config, "
            "telemetry_path, max_connections, max_requests_per_connection, read_timeout, write_timeout, "
            "idle_timeout, max_header_bytes, openmetrics_created or enable_lifecycle)");
  EXPECT_EQ(problem("collector: [device]\n"),
            "x.yml:1: collector: is a list (use the keys device or hw_counters)");
  EXPECT_EQ(problem("collector:\n  device: true\n"),
            "x.yml:2: collector.device: is a single value (use the keys enabled or timeout)");
  EXPECT_EQ(
      problem("- a\n"),
      "x.yml:1: the file is a list (use the keys web, path, replay, netlink, device, raw, metrics, textfile, "
      "interval, scrape, "
      "limits, log, probe or "
      "collector)");
  EXPECT_EQ(
      problem("\nhello\n"),
      "x.yml:2: the file is a single value (use the keys web, path, replay, netlink, device, raw, metrics, "
      "textfile, interval, "
      "scrape, limits, "
      "log, probe or collector)");
}

TEST(ConfigFile, RefusesAWrongList) {
  const std::string allowed =
      "use HOST:PORT, such as :9400, 127.0.0.1:9400, [::1]:9400 or localhost:9400, or unix:/PATH)";
  EXPECT_EQ(problem("web:\n  listen_address: ':1'\n"),
            "x.yml:2: web.listen_address: is a single value (use a list; " + allowed);
  EXPECT_EQ(problem("web:\n  listen_address: []\n"),
            "x.yml:2: web.listen_address: has too few values (use at least 1)");
  EXPECT_EQ(problem("web:\n  listen_address:\n  - :1\n  - x\n"),
            "x.yml:4: web.listen_address: \"x\" has no port (" + allowed);
  EXPECT_EQ(problem("web:\n  listen_address:\n  - :1\n  - [':2']\n"),
            "x.yml:4: web.listen_address: is a list (" + allowed);
  EXPECT_EQ(problem("web:\n  listen_address:\n  -\n"),
            "x.yml:4: web.listen_address: has no value (" + allowed);
}

TEST(ConfigFile, RefusesAValueThatIsNotAllowed) {
  EXPECT_EQ(problem("limits:\n  workers: many\n"),
            "x.yml:2: limits.workers: \"many\" is not a whole number (use 1 to 1024)");
  EXPECT_EQ(problem("limits:\n  workers: 5000\n"),
            "x.yml:2: limits.workers: \"5000\" is out of range (use 1 to 1024)");
  EXPECT_EQ(problem("limits:\n  workers: '32'\n"),
            "x.yml:2: limits.workers: \"32\" is text (use 1 to 1024, without quotes)");
  EXPECT_EQ(problem("collector: {device: {enabled: yes}}\n"),
            "x.yml:1: collector.device.enabled: \"yes\" is not a boolean (use true or false)");
  EXPECT_EQ(problem("collector: {device: {enabled: \"true\"}}\n"),
            "x.yml:1: collector.device.enabled: \"true\" is text (use true or false, without quotes)");
  EXPECT_EQ(problem("scrape:\n  timeout: 8\n"),
            "x.yml:2: scrape.timeout: \"8\" is not a duration (use 10ms to 10m, such as 500ms, 5s or 1m30s)");
  EXPECT_EQ(problem("log:\n  level: loud\n"),
            "x.yml:2: log.level: \"loud\" is not a valid value (use debug, info, warn or error)");
  EXPECT_EQ(problem("device:\n\n  include: \"*\"\n").substr(0, 58),
            "x.yml:3: device.include: \"*\" is not a regular expression: ");
  EXPECT_EQ(problem("path:\n  sysfs: |\n    /sys\n"),
            "x.yml:2: path.sysfs: \"/sys\\x0a\" contains a control character (use the path of a directory)");
  EXPECT_EQ(problem("web: {listen_address: [\"[::1\\0]:1\"]}\n"),
            "x.yml:1: web.listen_address: \"[::1\\x00]:1\" has no valid IPv6 address in its brackets (use "
            "HOST:PORT, such as "
            ":9400, 127.0.0.1:9400, [::1]:9400 or localhost:9400, or unix:/PATH)");
}

TEST(ConfigFile, CutsAHugeValueInTheMessage) {
  EXPECT_EQ(
      problem("raw: " + std::string(500'000, 'a')),
      "x.yml:1: raw: \"" + std::string(80, 'a') + "\"... is not a valid value (use unmapped, all or none)");
  EXPECT_EQ(
      problem(std::string(1000, 'a') + ": 1"),
      "x.yml:1: \"" + std::string(80, 'a') +
          "\"...: unknown key (use the keys web, path, replay, netlink, device, raw, metrics, textfile, "
          "interval, scrape, limits, log, probe or "
          "collector)");
}

}  // namespace
}  // namespace rdma_exporter::config
