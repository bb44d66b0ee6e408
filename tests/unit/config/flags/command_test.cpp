// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/command.h"

#include <gtest/gtest.h>

#include <array>

#include "config/flags/help.h"
#include "config/flags/value_type.h"
#include "tests/unit/config/fixture.h"

// Commands on the command line: which word is one, what belongs to it, and every message about it as a whole.
namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

constexpr std::array kFlags{CommandFlag{"--every", "DURATION", "How often."},
                            CommandFlag{"--brief", "", "Say less."}};
constexpr CommandSyntax kLook{.name = "look",
                              .arguments = "PLACE",
                              .at_least = 1,
                              .at_most = 1,
                              .summary = "Look at a place.",
                              .description = "Looks once.",
                              .flags = kFlags};
constexpr CommandSyntax kWait{.name = "wait", .summary = "Wait.", .description = "Waits."};
constexpr std::array kSyntaxes{kLook, kWait};

core::Result<CommandLine> look(std::vector<const char*> words) {
  words.insert(words.begin(), {"rdma_exporter", "look"});
  return parse_command(words, kCollectors, kLook);
}

std::string_view word(std::vector<const char*> words) {
  words.insert(words.begin(), "rdma_exporter");
  return command_word(words);
}

TEST(ConfigCommand, IsTheFirstWordOnly) {
  EXPECT_EQ(word({"look", "here"}), "look");
  EXPECT_EQ(word({"--log.level", "look"}), "");  // the value of a flag
  EXPECT_EQ(word({"-h"}), "");
  EXPECT_EQ(word({""}), "");
  EXPECT_EQ(word({}), "");
  EXPECT_EQ(command_word({}), "");
}

TEST(ConfigCommand, NamesTheNearestOne) {
  EXPECT_EQ(unknown_command("lok", kSyntaxes).context.text(),
            "\"lok\": is neither a flag nor a command (did you mean look?)");
  EXPECT_EQ(unknown_command("config.yml", kSyntaxes).context.text(),
            "\"config.yml\": is neither a flag nor a command (see --help)");
}

TEST(ConfigCommand, TakesItsArgumentsItsFlagsAndThoseOfTheDaemonInAnyOrder) {
  const auto line = look(
      {"--brief", "--path.sysfs=/s", "there", "--every", "7s", "--log.level=debug", "--no-collector.device"});
  ASSERT_TRUE(line) << message(line);
  EXPECT_EQ(line->arguments, std::vector<std::string>{"there"});
  EXPECT_TRUE(line->has("--brief"));
  EXPECT_EQ(*line->value("--every", duration(1s, 1h), std::chrono::milliseconds(1s)), 7s);
  EXPECT_EQ(line->config.path.sysfs, "/s");
  EXPECT_EQ(line->config.log.level, LogLevel::debug);
  EXPECT_FALSE(line->config.collectors.at("device").enabled);
}

TEST(ConfigCommand, HasDefaultsForWhatIsNotGiven) {
  const auto line = look({"there"});
  ASSERT_TRUE(line) << message(line);
  EXPECT_FALSE(line->has("--brief"));
  EXPECT_EQ(*line->value("--every", duration(1s, 1h), std::chrono::milliseconds(3s)), 3s);
  EXPECT_EQ(line->config.log.level, LogLevel::info);
}

TEST(ConfigCommand, SaysWhatIsWrong) {
  EXPECT_EQ(message(look({})), "look: an argument is missing (usage: rdma_exporter look PLACE; see --help)");
  EXPECT_EQ(message(look({"a", "b"})), "look: \"b\": is not a flag (flags start with --)");
  EXPECT_EQ(message(look({"a", "--evry=1s"})), "--evry: unknown flag (did you mean --every?)");
  EXPECT_EQ(message(look({"a", "--path.sysf=/"})), "--path.sysf: unknown flag (did you mean --path.sysfs?)");
  EXPECT_EQ(message(look({"a", "--brief=1"})), "--brief: takes no value");
  EXPECT_EQ(message(look({"a", "--every=1s", "--every=2s"})), "--every: is given twice");
  EXPECT_EQ(message(look({"a", "--every"})), "--every: needs a value");
  EXPECT_EQ(message(look({"a", "--once"})), "--once: cannot be combined with the command look");
  EXPECT_EQ(message(look({"a", "--log.level=loud"})),
            "--log.level: \"loud\" is not a valid value (use debug, info, warn or error)");
  const auto line = look({"a", "--every=0s"});
  ASSERT_TRUE(line) << message(line);
  EXPECT_EQ(message(line->value("--every", duration(1s, 1h), std::chrono::milliseconds(3s))),
            "--every: \"0s\" is out of range (use 1s to 1h, such as 500ms, 5s or 1m30s)");
  const std::array words{"rdma_exporter", "wait", "x"};
  EXPECT_EQ(message(parse_command(words, kCollectors, kWait)), "\"x\": is not a flag (flags start with --)");
}

TEST(ConfigCommand, HidesTheFlagOfTheDaemonThatHasTheSameName) {
  static constexpr std::array flags{CommandFlag{"--interval", "WORD", "Another one."}};
  constexpr CommandSyntax again{.name = "again", .flags = flags};
  const std::array words{"rdma_exporter", "again", "--interval=seldom"};
  const auto line = parse_command(words, kCollectors, again);
  ASSERT_TRUE(line) << message(line);
  EXPECT_EQ(line->flags.at("--interval"), "seldom");
  EXPECT_EQ(line->config.interval, Config().interval);
}

TEST(ConfigCommand, HelpNeedsNoArgument) {
  const auto line = look({"--help"});
  ASSERT_TRUE(line) << message(line);
  EXPECT_TRUE(line->help);
  EXPECT_EQ(command_help(kLook), R"(Usage: rdma_exporter look [FLAG]... PLACE
Look at a place.

Looks once.

  --every=DURATION
      How often.
  --brief
      Say less.
  -h, --help
      Show this help.

The flags of the daemon (rdma_exporter --help) also apply.
)");
}

TEST(ConfigCommand, StandsInTheHelpOfTheProgram) {
  EXPECT_NE(help_text(kCollectors, kSyntaxes).find("  look PLACE\n      Look at a place.\n  wait\n"),
            std::string::npos);
}

}  // namespace
}  // namespace rdma_exporter::config
