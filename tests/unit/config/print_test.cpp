// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/print.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "config/flags/help.h"
#include "tests/unit/config/fixture.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

// Compares with what the program printed when somebody last looked at it.
void expect_golden(const std::string& name, const std::string& printed) {
  const std::string path = SOURCE_DIR "/tests/unit/data/config/" + name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << printed;
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(printed, expected)
      << "An option has changed: run scripts/regenerate and look at git diff tests/unit/data/config";
}

TEST(ConfigPrint, WritesTheDefaultsAsYaml) { expect_golden("defaults.yml", print(parse_words({})->config)); }

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

TEST(ConfigHelp, ShowsEveryFlagWithItsDefault) { expect_golden("help.txt", help_text(kCollectors)); }

}  // namespace
}  // namespace rdma_exporter::config
