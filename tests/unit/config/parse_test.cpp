// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/unit/config/fixture.h"

// Reading the file that --config.file names, and who wins over whom.
namespace rdma_exporter::config {
namespace {

class ConfigPrecedence : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/config_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(std::string_view text) {
    const std::string name = folder_ / "x.yml";
    std::ofstream(name, std::ios::binary) << text;
    return name;
  }

  core::Result<Parsed> parse_with(const std::string& file, std::vector<const char*> words = {}) {
    const std::string flag = "--config.file=" + file;
    words.push_back(flag.c_str());
    return parse_words(words);
  }

  std::filesystem::path folder_;
};

TEST_F(ConfigPrecedence, AFlagWinsOverTheFileAndTheFileOverTheDefault) {
  const auto file = write("log: {level: warn, format: json}\nraw: all\n");
  const auto parsed = parse_with(file, {"--log.level=error"});
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_EQ(parsed->config.log.level, LogLevel::error);
  EXPECT_EQ(parsed->config.log.format, LogFormat::json);
  EXPECT_EQ(parsed->config.raw, RawPolicy::all);
  EXPECT_EQ(parsed->config.limits, LimitsConfig());
}

TEST_F(ConfigPrecedence, AListIsReplacedAsAWhole) {
  const auto file = write("web: {listen_address: [':1', ':2']}\n");
  EXPECT_EQ(parse_with(file)->config.web.listen_addresses, (std::vector<std::string>{":1", ":2"}));
  EXPECT_EQ(parse_with(file, {"--web.listen-address=:3"})->config.web.listen_addresses,
            std::vector<std::string>{":3"});
}

TEST_F(ConfigPrecedence, ACollectorIsSwitchedByTheFlagLast) {
  const auto file = write("collector: {device: {enabled: false}, hw_counters: {enabled: true}}\n");
  const auto parsed = parse_with(file, {"--collector.device"});
  ASSERT_TRUE(parsed) << message(parsed);
  EXPECT_TRUE(parsed->config.collectors.at("device").enabled);
  EXPECT_TRUE(parsed->config.collectors.at("hw_counters").enabled);
}

TEST_F(ConfigPrecedence, AWrongFileIsAnErrorAlsoWhenAFlagWouldOverrideIt) {
  const auto file = write("log:\n  level: loud\n");
  EXPECT_EQ(message(parse_with(file, {"--log.level=info"})),
            file + ":2: log.level: \"loud\" is not a valid value (use debug, info, warn or error)");
}

TEST_F(ConfigPrecedence, AWrongFileIsAnErrorForWhateverUsesIt) {
  const auto file = write("log:\n  level: loud\n");
  for (const char* flag : {"--check-config", "--print-config", "--once"})
    EXPECT_TRUE(message(parse_with(file, {flag})).starts_with(file + ":2: ")) << flag;
  for (const char* flag : {"--help", "--version", "--describe=json"})
    EXPECT_EQ(message(parse_with(file, {flag})), "accepted") << flag;
}

TEST_F(ConfigPrecedence, SaysWhyAFileCannotBeRead) {
  const std::string missing = folder_ / "missing.yml";
  EXPECT_EQ(message(parse_with(missing)), "--config.file: " + missing + ": No such file or directory");
  EXPECT_EQ(message(parse_with(folder_)), "--config.file: " + folder_.string() + ": Is a directory");
  EXPECT_EQ(message(parse_with("/dev/zero")), "--config.file: /dev/zero: is not a regular file");
  EXPECT_EQ(message(parse_with("/dev/null")), "accepted");
}

TEST_F(ConfigPrecedence, SaysThatAFileMayNotBeRead) {
  const auto file = write("raw: all\n");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const uid_t user = geteuid();
  const uid_t nobody = 65534;  // root reads every file
  ASSERT_EQ(seteuid(user == 0 ? nobody : user), 0);
  const auto parsed = parse_with(file);
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_EQ(message(parsed), "--config.file: " + file + ": Permission denied");
}

TEST_F(ConfigPrecedence, TakesAFileOfExactlyOneMebibyte) {
  EXPECT_EQ(message(parse_with(write(std::string(1 << 20, '#')))), "accepted");
  const auto file = write(std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(message(parse_with(file)), "--config.file: " + file + ": longer than 1 MiB");
}

}  // namespace
}  // namespace rdma_exporter::config
