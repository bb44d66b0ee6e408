// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/option_table.h"

#include <gtest/gtest.h>

#include <set>

#include "config/print.h"
#include "tests/unit/config/fixture.h"

// What must hold for every row, also for those that are added later.
namespace rdma_exporter::config {
namespace {

TEST(ConfigTable, NamesEachFlagAndEachKeyOnce) {
  std::set<std::string> flags;
  std::set<std::string> keys;
  for (const Option& option : option_table(kCollectors)) {
    EXPECT_TRUE(flags.insert(option.flag).second) << option.flag;
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
  }
}

TEST(ConfigTable, HasNoKeyThatIsAlsoASection) {
  const auto options = option_table(kCollectors);
  for (const Option& section : options) {
    for (const Option& option : options)
      EXPECT_FALSE(option.key.starts_with(section.key + ".")) << option.key;
  }
}

TEST(ConfigTable, DerivesTheKeyFromTheFlag) {
  EXPECT_EQ(key_of_flag("web.listen-address"), "web.listen_address");
  for (const Option& option : option_table(kCollectors)) {
    const bool switches_a_collector =
        option.shape == Option::Shape::toggle && option.flag.starts_with("collector.");
    const std::string suffix = switches_a_collector ? ".enabled" : "";
    EXPECT_EQ(option.key, key_of_flag(option.flag) + suffix);
  }
}

TEST(ConfigTable, TakesItsOwnDefaultsAndExplainsEachOption) {
  const Config defaults = default_config(kCollectors);
  for (const Option& option : option_table(kCollectors)) {
    EXPECT_FALSE(option.help.empty()) << option.flag;
    EXPECT_TRUE(option.allowed.starts_with("use ")) << option.flag;
    Config config = defaults;
    option.clear(config);
    for (const std::string& value : option.values(defaults)) {
      const auto done = option.add(config, value);
      EXPECT_TRUE(done) << option.flag << ": " << message(done);
    }
    EXPECT_EQ(config, defaults) << option.flag;
  }
}

TEST(ConfigTable, GivesEveryOptionAFlagThatTheCommandLineKnows) {
  const Config defaults = default_config(kCollectors);
  for (const Option& option : option_table(kCollectors)) {
    if (option.shape == Option::Shape::toggle) continue;
    const auto values = option.values(defaults);
    // of lists that are empty by default, an address is a value
    const std::string word = "--" + option.flag + "=" + (values.empty() ? "192.0.2.1" : values.front());
    EXPECT_EQ(message(parse_words({word.c_str()})), "accepted") << word;
  }
}

}  // namespace
}  // namespace rdma_exporter::config
