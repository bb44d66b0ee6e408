// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/password_queue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace rdma_exporter::web {
namespace {

class WebPasswordQueue : public testing::Test {
 protected:
  static PendingPassword pending(const std::string& client, std::uint64_t password) {
    PendingPassword made;
    std::memcpy(made.key.data(), &password, sizeof password);
    made.client = client;
    made.password = std::to_string(password);
    made.answers.emplace_back([](PasswordVerdict) {});
    return made;
  }
  void say(const std::string& client, std::uint64_t password) { queue.add(pending(client, password)); }
  std::string next() {
    const auto taken = queue.take_next();
    return taken ? taken->password : "none";
  }
  std::string last() {
    const auto taken = queue.take_last();
    return taken ? taken->password : "none";
  }

  PasswordQueue queue;
};

TEST_F(WebPasswordQueue, TakesThemInTheirOrderWhereNothingSetsThemApart) {
  say("a", 1);
  say("b", 2);
  say("c", 3);
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(last(), "3");
  EXPECT_EQ(next(), "2");
  EXPECT_EQ(next(), "none");
  EXPECT_EQ(last(), "none");
}

TEST_F(WebPasswordQueue, AnAddressThatSaysManyWaitsBehindOneThatSaysOne) {
  for (std::uint64_t i = 0; i < 10; ++i) say("guesser", i);
  say("prometheus", 100);
  EXPECT_EQ(next(), "100");
  EXPECT_EQ(last(), "9");
}

TEST_F(WebPasswordQueue, OfOneAddressThePasswordThatIsSaidAgainIsNext) {
  for (std::uint64_t i = 0; i < 10; ++i) say("proxy", i);
  say("proxy", 100);
  for (std::uint64_t i = 10; i < 20; ++i) say("proxy", i);
  say("proxy", 100);
  EXPECT_EQ(queue.size(), 22U) << "requests";
  EXPECT_EQ(next(), "100");
  EXPECT_EQ(queue.size(), 20U);
}

TEST_F(WebPasswordQueue, APasswordThatHadToGoIsNotForgotten) {
  say("proxy", 100);
  EXPECT_EQ(last(), "100");
  for (std::uint64_t i = 0; i < 1000; ++i) {
    say("proxy", 1000 + i);
    last();
  }
  say("proxy", 5);
  say("proxy", 100);
  EXPECT_EQ(next(), "100");
}

TEST_F(WebPasswordQueue, AGuessThatWasWrongCountsAgainstItsAddress) {
  say("guesser", 1);
  EXPECT_EQ(next(), "1");
  queue.count_wrong("guesser");
  say("guesser", 1);
  say("guesser", 1);
  say("prometheus", 2);
  EXPECT_EQ(next(), "2");
  queue.clear("guesser");
  say("prometheus", 3);
  EXPECT_EQ(next(), "1") << "an address that was right starts afresh";
}

TEST_F(WebPasswordQueue, RemembersABoundedNumber) {
  RecentMap<int, int> map(3);
  for (int i = 0; i < 5; ++i) map[i] = i;
  EXPECT_EQ(map.size(), 3U);
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_EQ(map[2], 2);
  map[9] = 9;
  EXPECT_EQ(map.find(3), nullptr) << "the one that was asked for longest ago";
  EXPECT_NE(map.find(2), nullptr);
}

}  // namespace
}  // namespace rdma_exporter::web
