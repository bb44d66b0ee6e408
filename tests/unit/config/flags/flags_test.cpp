// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>

#include "tests/unit/config/fixture.h"

// The command line: which value ends up where, and every message about a wrong flag as a whole.
namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

TEST(ConfigFlags, GiveTheDefaultsWhenThereAreNone) {
  const auto parsed = parse_words({});
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_EQ(parsed->action, Action::serve);
  Config expected;
  expected.collectors = {{"device", {true, 5s}}, {"hw_counters", {false, 5s}}};
  EXPECT_EQ(parsed->config, expected);
  EXPECT_EQ(message(parse({}, kCollectors)), "accepted");  // not even a program name
}

TEST(ConfigFlags, SetEveryOption) {
  const auto parsed = parse_words({"--web.listen-address=127.0.0.1:1",
                                   "--web.listen-address=[::1]:2",
                                   "--web.systemd-socket",
                                   "--web.config.file=w.yml",
                                   "--web.telemetry-path=/m",
                                   "--web.max-connections=3",
                                   "--web.max-requests-per-connection=7",
                                   "--web.read-timeout=4s",
                                   "--web.write-timeout=8s",
                                   "--web.idle-timeout=5s",
                                   "--web.max-header-bytes=6000",
                                   "--web.openmetrics-created",
                                   "--path.sysfs=/s",
                                   "--path.procfs=/p",
                                   "--scrape.timeout=7s",
                                   "--scrape.timeout-offset=8ms",
                                   "--device.include=mlx5_.*",
                                   "--device.exclude=rxe[0-9]",
                                   "--device.forget-after=9h",
                                   "--limits.workers=10",
                                   "--limits.series-per-device=11",
                                   "--limits.kept-files=12",
                                   "--limits.page-bytes=70000",
                                   "--limits.pages-in-flight-bytes=80000",
                                   "--textfile=/t.prom",
                                   "--interval=14s",
                                   "--raw=all",
                                   "--netlink=off",
                                   "--replay=/r",
                                   "--log.level=debug",
                                   "--log.format=json",
                                   "--no-collector.device",
                                   "--collector.hw_counters",
                                   "--collector.device.timeout=13s"});
  ASSERT_TRUE(parsed) << message(parsed);
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
  EXPECT_EQ(parsed->config, expected);
}

TEST(ConfigFlags, TakeTheirValueAfterASpaceToo) {
  const auto parsed =
      parse_words({"--log.level", "warn", "--device.include", "", "--web.listen-address", ":1"});
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_EQ(parsed->config.log.level, LogLevel::warn);
  EXPECT_EQ(parsed->config.device.include.text(), "");
  EXPECT_EQ(parsed->config.web.listen_addresses, std::vector<std::string>{":1"});
}

TEST(ConfigFlags, KeepValuesAsTheyAreWritten) {
  const auto parsed =
      parse_words({"--device.include=[a,b]", "--device.exclude=a=b,c d", "--replay=", "--raw=none"});
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_EQ(parsed->config.device.include.text(), "[a,b]");
  EXPECT_EQ(parsed->config.device.exclude.text(), "a=b,c d");
  EXPECT_EQ(parsed->config.replay, "");
  EXPECT_EQ(parsed->config.raw, RawPolicy::none);
}

TEST(ConfigFlags, ChooseTheAction) {
  const auto action = [](std::vector<const char*> words) { return parse_words(std::move(words))->action; };
  EXPECT_EQ(action({"--version"}), Action::version);
  EXPECT_EQ(action({"--help"}), Action::help);
  EXPECT_EQ(action({"-h"}), Action::help);
  EXPECT_EQ(action({"--describe=markdown"}), Action::describe_markdown);
  EXPECT_EQ(action({"--describe", "json"}), Action::describe_json);
  EXPECT_EQ(action({"--check-config"}), Action::check_config);
  EXPECT_EQ(action({"--print-config"}), Action::print_config);
  EXPECT_EQ(action({"--once", "--raw=all"}), Action::once);
  EXPECT_EQ(action({"--once", "--version", "-h"}), Action::help);
}

TEST(ConfigFlags, HelpAndVersionDoNotNeedTheFile) {
  EXPECT_EQ(message(parse_words({"--version", "--config.file=/does/not/exist"})), "accepted");
  EXPECT_EQ(message(parse_words({"--help", "--config.file=/does/not/exist"})), "accepted");
  EXPECT_EQ(message(parse_words({"--describe=json", "--config.file=/does/not/exist"})), "accepted");
}

TEST(ConfigFlags, NameAnUnknownFlagAndTheNearestOne) {
  const auto problem = [](const char* word) { return message(parse_words({word})); };
  EXPECT_EQ(problem("--web.listen_address=:1"),
            "--web.listen_address: unknown flag (did you mean --web.listen-address?)");
  EXPECT_EQ(problem("-web.telemetry-path=/x"),
            "-web.telemetry-path: unknown flag (did you mean --web.telemetry-path?)");
  EXPECT_EQ(problem("--collector.hwcounters"),
            "--collector.hwcounters: unknown flag (did you mean --collector.hw_counters?)");
  EXPECT_EQ(problem("--no-collector.devices"),
            "--no-collector.devices: unknown flag (did you mean --no-collector.device?)");
  EXPECT_EQ(problem("--versoin"), "--versoin: unknown flag (did you mean --version?)");
  EXPECT_EQ(problem("--frobnicate=1"), "--frobnicate: unknown flag (see --help)");
  EXPECT_EQ(problem("--no-log.level"), "--no-log.level: unknown flag (did you mean --log.level?)");
  EXPECT_EQ(problem("-x"), "-x: unknown flag (see --help)");
  EXPECT_EQ(problem("-hx"), "-x: unknown flag (see --help)");
  EXPECT_EQ(problem("--="), "--: unknown flag (see --help)");
  EXPECT_EQ(problem("config.yml"), "\"config.yml\": is not a flag (flags start with --)");
  EXPECT_EQ(problem(""), "\"\": is not a flag (flags start with --)");
  EXPECT_EQ(problem("-"), "\"-\": is not a flag (flags start with --)");
  EXPECT_EQ(problem("++"), "\"++\": is not a flag (flags start with --)");
}

TEST(ConfigFlags, WantAValueWhereOneIsDue) {
  EXPECT_EQ(message(parse_words({"--raw=all", "--log.level"})), "--log.level: needs a value");
  EXPECT_EQ(message(parse_words({"--device.include", "--once"})),
            "--device.include: needs a value (write one that starts with - as --device.include=VALUE)");
  EXPECT_EQ(message(parse_words({"--describe", "-h"})),
            "--describe: needs a value (write one that starts with - as --describe=VALUE)");
  EXPECT_EQ(message(parse_words({"--config.file="})), "--config.file: needs a value");
  EXPECT_EQ(message(parse_words({"--log.level=", "warn"})), "\"warn\": is not a flag (flags start with --)");
  EXPECT_EQ(message(parse_words({"--log.level="})),
            "--log.level: \"\" is not a valid value (use debug, info, warn or error)");
  EXPECT_EQ(parse_words({"--device.include=-a"})->config.device.include.text(), "-a");
}

TEST(ConfigFlags, WantNoValueWhereNoneIsDue) {
  EXPECT_EQ(message(parse_words({"--once=yes"})), "--once: takes no value");
  EXPECT_EQ(message(parse_words({"--once=false"})), "--once: takes no value");
  EXPECT_EQ(message(parse_words({"--version", "x"})), "\"x\": is not a flag (flags start with --)");
  EXPECT_EQ(message(parse_words({"--collector.device=maybe"})),
            "--collector.device: \"maybe\" is not a boolean (use true or false)");
  EXPECT_FALSE(parse_words({"--collector.device=false"})->config.collectors.at("device").enabled);
}

TEST(ConfigFlags, AreGivenOnce) {
  EXPECT_EQ(message(parse_words({"--log.level=info", "--log.level=warn"})), "--log.level: is given twice");
  EXPECT_EQ(message(parse_words({"--collector.device", "--no-collector.device"})),
            "--collector.device: is given twice");
  EXPECT_EQ(message(parse_words({"--once", "--once"})), "--once: is given twice");
  EXPECT_EQ(message(parse_words({"--once", "--print-config"})),
            "--once: cannot be combined with --print-config");
  EXPECT_EQ(message(parse_words({"--config.file=/a", "--config.file=/b"})), "--config.file: is given twice");
}

TEST(ConfigFlags, SayWhatIsAllowed) {
  const auto problem = [](const char* word) { return message(parse_words({word})); };
  EXPECT_EQ(problem("--web.listen-address=9400"),
            "--web.listen-address: \"9400\" has no port (use HOST:PORT, such as :9400, 127.0.0.1:9400, "
            "[::1]:9400 or "
            "localhost:9400, or unix:/PATH)");
  EXPECT_EQ(problem("--web.telemetry-path=metrics"),
            "--web.telemetry-path: \"metrics\" does not start with / (use a path such as /metrics)");
  EXPECT_EQ(problem("--web.max-connections=0"),
            "--web.max-connections: \"0\" is out of range (use 1 to 10000)");
  EXPECT_EQ(problem("--web.read-timeout=10"),
            "--web.read-timeout: \"10\" is not a duration (use 10ms to 1h, such as 500ms, 5s or 1m30s)");
  EXPECT_EQ(problem("--device.forget-after=1500ms"),
            "--device.forget-after: \"1500ms\" is not a whole number of seconds (use 0s to 8760h, such as "
            "90s, 24h or "
            "7d)");
  EXPECT_EQ(problem("--raw=some"), "--raw: \"some\" is not a valid value (use unmapped, all or none)");
  EXPECT_EQ(problem("--netlink=true"), "--netlink: \"true\" is not a valid value (use auto, on or off)");
  EXPECT_EQ(problem("--path.sysfs="), "--path.sysfs: \"\" is empty (use the path of a directory)");
  EXPECT_EQ(problem("--describe=xml"),
            "--describe: \"xml\" is not a known format (use markdown, json, man or bash-completion)");
  EXPECT_EQ(problem("--config.file=/does/not/exist"),
            "--config.file: /does/not/exist: No such file or directory");
}

// With 7, an operation of Soft-RoCE never fails.
TEST(ConfigFlags, TakeOnlyRetransmissionsThatEnd) {
  EXPECT_EQ(message(parse_words({"--probe.retry=6"})), "accepted");
  EXPECT_EQ(message(parse_words({"--probe.retry=7"})), "--probe.retry: \"7\" is out of range (use 0 to 6)");
}

TEST(ConfigFlags, IgnoreALoneEndOfFlags) { EXPECT_EQ(message(parse_words({"--once", "--"})), "accepted"); }

}  // namespace
}  // namespace rdma_exporter::config
