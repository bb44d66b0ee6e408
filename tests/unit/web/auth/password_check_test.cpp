// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/password_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "web/auth/credentials.h"

namespace rdma_exporter::web {
namespace {

using Verdict = PasswordCheck::Verdict;

/// A check whose jobs wait until run(). A password is right when it is the hash.
class WebPasswordCheck : public testing::Test {
 protected:
  Verdict* ask(const std::string& user, const std::string& password,
               const std::string& client = "192.0.2.1") {
    verdicts_.push_back(std::make_unique<Verdict>(kNone));
    Verdict* const verdict = verdicts_.back().get();
    check->check({user, password}, client, [verdict](Verdict v) { *verdict = v; });
    return verdict;
  }
  /// Computes one hash after the other, `at_most` of them.
  void run(int at_most = 1000) {
    for (; at_most > 0 && !jobs.empty(); --at_most) {
      now += cost;
      std::exchange(jobs, {}).at(0)()();
    }
  }

  static constexpr Verdict kNone = static_cast<Verdict>(99);
  std::vector<task::LoopTasks::Job> jobs;
  std::vector<std::string> hashed;  ///< "password with hash", in order
  std::shared_ptr<PasswordCheck> check = std::make_shared<PasswordCheck>(
      [this](task::LoopTasks::Job job) {
        jobs.push_back(std::move(job));
        return true;
      },
      [this](const std::string& password, const std::string& hash) {
        hashed.push_back(password + " with " + hash);
        if (password == "no memory") throw std::bad_alloc();
        return password == hash;
      },
      PasswordCheck::kMaxWaiting, [this] { return now; });
  PasswordCheck::Clock::time_point now;
  PasswordCheck::Clock::duration cost = std::chrono::milliseconds(70);

 private:
  std::vector<std::unique_ptr<Verdict>> verdicts_;
};

TEST_F(WebPasswordCheck, TellsRightFromWrong) {
  check->set_users({{"alice", "one"}, {"bob", "two"}});
  const Verdict* const right = ask("alice", "one", "a");
  const Verdict* const wrong = ask("alice", "two", "b");
  const Verdict* const unknown = ask("carol", "one", "c");
  EXPECT_EQ(*right, kNone) << "it is not checked on this thread";
  run();
  EXPECT_EQ(*right, Verdict::right);
  EXPECT_EQ(*wrong, Verdict::wrong);
  EXPECT_EQ(*unknown, Verdict::wrong);
}

TEST_F(WebPasswordCheck, HashesForANameThatDoesNotExistAlwaysWithTheSameHash) {
  check->set_users({{"alice", "one"}, {"bob", "two"}, {"carol", "three"}});
  ask("mallory", "x");
  run();
  ask("mallory", "y");
  run();
  ASSERT_EQ(hashed.size(), 2U);
  EXPECT_EQ(hashed[0].substr(2), hashed[1].substr(2));
  for (const char* hash : {"one", "two", "three"}) {
    ask("mallory", hash);
    run();
    EXPECT_EQ(*ask("mallory", hash), Verdict::wrong) << "the password of somebody else is not that of nobody";
  }
}

TEST_F(WebPasswordCheck, RemembersRightAndWrongOnes) {
  check->set_users({{"alice", "one"}});
  ask("alice", "one");
  ask("alice", "bad");
  run();
  EXPECT_EQ(*ask("alice", "one"), Verdict::right);
  EXPECT_EQ(*ask("alice", "bad"), Verdict::wrong);
  EXPECT_EQ(hashed.size(), 2U);
}

TEST_F(WebPasswordCheck, ForgetsWhatWasRightUnderAnotherHash) {
  check->set_users({{"alice", "one"}});
  ask("alice", "one");
  run();
  check->set_users({{"alice", "changed"}});
  const Verdict* const verdict = ask("alice", "one");
  run();
  EXPECT_EQ(*verdict, Verdict::wrong);
  check->set_users({});
  EXPECT_EQ(*ask("alice", "one"), Verdict::wrong);
}

TEST_F(WebPasswordCheck, KeepsARightOneWhateverIsGuessed) {
  check->set_users({{"alice", "one"}});
  ask("alice", "one");
  run();
  for (std::size_t i = 0; i < 2 * PasswordCheck::kWrongOnes; ++i) {
    ask("alice", "guess " + std::to_string(i));
    run();
  }
  EXPECT_EQ(*ask("alice", "one"), Verdict::right);
}

TEST_F(WebPasswordCheck, ChecksTheSamePasswordOnceForAllWhoWait) {
  check->set_users({{"alice", "one"}});
  std::vector<const Verdict*> all;
  for (int i = 0; i < 20; ++i) all.push_back(ask("alice", "one"));
  run();
  EXPECT_EQ(hashed.size(), 1U);
  for (const Verdict* verdict : all) EXPECT_EQ(*verdict, Verdict::right);
}

TEST_F(WebPasswordCheck, ChecksOneAtATime) {
  check->set_users({{"alice", "one"}});
  for (int i = 0; i < 10; ++i) ask("alice", std::to_string(i));
  EXPECT_EQ(jobs.size(), 1U);
  run();
  EXPECT_EQ(hashed.size(), 10U);
}

TEST_F(WebPasswordCheck, LetsInAClientBehindTheSameProxyAsGuessers) {
  check->set_users({{"alice", "one"}});
  for (int i = 0; i < 2; ++i) ask("alice", "guess " + std::to_string(i), "unix");
  const Verdict* const good = ask("alice", "one", "unix");
  run(3);
  EXPECT_EQ(*good, Verdict::right);
}

// A thousand guesses a second, fourteen hashes a second, and a client that asks five times a second.
TEST_F(WebPasswordCheck, LetsAClientInWithinTwoSecondsWhoeverGuesses) {
  for (const int addresses : {1, 1000}) {
    SCOPED_TRACE(addresses);
    const std::string user = "user" + std::to_string(addresses);
    check->set_users({{user, "one"}});
    std::string good_address = addresses == 1 ? "guesser 0" : "prometheus";
    bool in = false;
    int ms = 0;
    for (int last_hash = 0; !in && ms < 10'000; ++ms) {
      ask(user, "guess " + std::to_string(ms), "guesser " + std::to_string(ms % addresses));
      if (ms % 200 == 100)
        check->check({user, "one"}, good_address, [&](Verdict v) { in |= v == Verdict::right; });
      if (ms - last_hash < 70) continue;
      last_hash = ms;
      run(1);
    }
    EXPECT_LT(ms, 2000) << "also when nothing is known yet";
  }
}

TEST_F(WebPasswordCheck, BoundsWhatWaitsInAll) {
  check->set_users({{"alice", "one"}});
  std::vector<const Verdict*> all;
  for (std::size_t i = 0; i < 10 * PasswordCheck::kMaxWaiting; ++i)
    all.push_back(ask("alice", "guess " + std::to_string(i), "client " + std::to_string(i)));
  const auto waiting = std::count_if(all.begin(), all.end(), [](const Verdict* v) { return *v == kNone; });
  EXPECT_EQ(waiting, PasswordCheck::kMaxWaiting + 1) << "with the one that is being checked";
  run();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Verdict* v) { return *v == kNone; }), 0);
}

TEST_F(WebPasswordCheck, LetsWaitOnlyWhoCanBeCheckedInTime) {
  check->set_users({{"alice", "one"}});
  cost = std::chrono::milliseconds(1600);
  ask("alice", "first");
  run();
  std::vector<const Verdict*> all;
  for (int i = 0; i < 20; ++i) all.push_back(ask("alice", std::to_string(i)));
  const auto waiting = std::count_if(all.begin(), all.end(), [](const Verdict* v) { return *v == kNone; });
  EXPECT_EQ(waiting, 3 + 1);
}

TEST_F(WebPasswordCheck, ManyWhoSayTheSamePushOutNobodyElse) {
  check->set_users({{"alice", "one"}});
  ask("alice", "being checked", "x");
  const Verdict* const good = ask("alice", "one", "prometheus");
  for (std::size_t i = 0; i < 3 * PasswordCheck::kMaxWaiting; ++i)
    ask("alice", "same", "client " + std::to_string(i));
  for (std::size_t i = 0; i < 3 * PasswordCheck::kMaxWaiting; ++i)
    ask("alice", "being checked", "client " + std::to_string(i));
  run();
  EXPECT_EQ(*good, Verdict::right);
}

TEST_F(WebPasswordCheck, DoesNotTakeAPasswordForWrongThatCouldNotBeChecked) {
  check->set_users({{"alice", "no memory"}});
  const Verdict* const verdict = ask("alice", "no memory");
  const Verdict* const next = ask("alice", "x");
  run();
  EXPECT_EQ(*verdict, Verdict::queue_full);
  EXPECT_EQ(*next, Verdict::wrong);
  ask("alice", "no memory");
  EXPECT_EQ(jobs.size(), 1U) << "it is tried again";
}

TEST_F(WebPasswordCheck, MayGoWhileAPasswordIsBeingChecked) {
  check->set_users({{"alice", "one"}});
  const Verdict* const verdict = ask("alice", "one");
  auto finish = jobs.at(0)();
  check.reset();
  finish();
  EXPECT_EQ(*verdict, kNone);
}

/// Hashes of "secret" by crypt(3).
TEST(WebBcrypt, KnowsThePasswordOfAHashAndNoOther) {
  for (const char* hash : {"$2y$04$LJh2Jn1ZEwsnt6zUhqyzm.xKIsi9592BG1Z97cISB9hj7XZdIQzN6",
                           "$2b$05$LJh2Jn1ZEwsnt6zUhqyzm.tVFdnHL1g02KsOLMrp1A4uZPcl9OyVm",
                           "$2a$04$LJh2Jn1ZEwsnt6zUhqyzm.xKIsi9592BG1Z97cISB9hj7XZdIQzN6"}) {
    EXPECT_TRUE(bcrypt_matches("secret", hash)) << hash;
    EXPECT_FALSE(bcrypt_matches("Secret", hash));
    EXPECT_FALSE(bcrypt_matches(std::string("secret\0x", 8), hash)) << "crypt(3) stops at the zero byte";
    EXPECT_FALSE(bcrypt_matches("", hash));
  }
  EXPECT_FALSE(bcrypt_matches("secret", ""));
  EXPECT_FALSE(bcrypt_matches("secret", "*0"));
}

std::string shown(std::string_view header) {
  const auto credentials = parse_basic_auth(header);
  return credentials ? credentials->user + "|" + credentials->password : "none";
}

TEST(WebBasicAuth, DecodesUserAndPassword) {
  EXPECT_EQ(shown("Basic YWxpY2U6c2VjcmV0"), "alice|secret");
  EXPECT_EQ(shown("basic  YWxpY2U6c2VjcmV0"), "alice|secret");
  EXPECT_EQ(shown("Basic YTpiOmM="), "a|b:c");
  EXPECT_EQ(shown("Basic Og=="), "|");
  EXPECT_EQ(shown("Basic YTo="), "a|");
  using namespace std::string_literals;
  EXPECT_EQ(shown("Basic YTpiAGM="), "a|b\0c"s);
}

TEST(WebBasicAuth, IsNotWhatIsMalformed) {
  for (const char* header :
       {"", "Basic", "Basic ", "Basic YQ==", "Bearer YWxpY2U6c2VjcmV0", "Basic YWxpY2U6c2VjcmV",
        "Basic YWxp Y2U6c2VjcmV0", "Basic ====", "Basic Y===", "Basic Yl9=Yl9=", "Basic ", "B",
        "BasicYWxpY2U6c2VjcmV0", "Basic !WxpY2U6c2VjcmV0"})
    EXPECT_EQ(shown(header), "none") << header;
}

}  // namespace
}  // namespace rdma_exporter::web
