// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/password_check.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "net/basic_auth.h"
#include "net/bcrypt.h"

namespace rdma_exporter::net {
namespace {

using Verdict = PasswordCheck::Verdict;

/// A check whose jobs wait until run(). A password is right when it is the hash.
class NetPasswordCheck : public testing::Test {
 protected:
  Verdict* ask(const std::string& user, const std::string& password,
               const std::string& client = "192.0.2.1") {
    verdicts_.push_back(std::make_unique<Verdict>(kNone));
    Verdict* const verdict = verdicts_.back().get();
    check->check({user, password}, client, [verdict](Verdict v) { *verdict = v; });
    return verdict;
  }
  void run() {
    for (auto& job : std::exchange(jobs, {})) job()();
  }

  static constexpr Verdict kNone = static_cast<Verdict>(99);
  std::vector<Worker::Job> jobs;
  std::vector<std::string> hashed;  ///< "password with hash", in order
  std::shared_ptr<PasswordCheck> check = std::make_shared<PasswordCheck>(
      [this](Worker::Job job) {
        jobs.push_back(std::move(job));
        return true;
      },
      [this](const std::string& password, const std::string& hash) {
        hashed.push_back(password + " with " + hash);
        return password == hash;
      });

 private:
  std::vector<std::unique_ptr<Verdict>> verdicts_;
};

TEST_F(NetPasswordCheck, TellsRightFromWrong) {
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

TEST_F(NetPasswordCheck, HashesForANameThatDoesNotExistAlwaysWithTheSameHash) {
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

TEST_F(NetPasswordCheck, RemembersRightAndWrongOnes) {
  check->set_users({{"alice", "one"}});
  ask("alice", "one");
  ask("alice", "bad");
  run();
  EXPECT_EQ(*ask("alice", "one"), Verdict::right);
  EXPECT_EQ(*ask("alice", "bad"), Verdict::wrong);
  EXPECT_EQ(hashed.size(), 2U);
}

TEST_F(NetPasswordCheck, ForgetsWhatWasRightUnderAnotherHash) {
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

TEST_F(NetPasswordCheck, KeepsARightOneWhateverIsGuessed) {
  check->set_users({{"alice", "one"}});
  ask("alice", "one");
  run();
  for (std::size_t i = 0; i < 3 * PasswordCheck::kRemembered; ++i) {
    ask("alice", "guess " + std::to_string(i));
    run();
  }
  EXPECT_EQ(*ask("alice", "one"), Verdict::right);
}

TEST_F(NetPasswordCheck, ChecksTheSamePasswordOnceForAllWhoWait) {
  check->set_users({{"alice", "one"}});
  std::vector<const Verdict*> all;
  for (int i = 0; i < 20; ++i) all.push_back(ask("alice", "one"));
  run();
  EXPECT_EQ(hashed.size(), 1U);
  for (const Verdict* verdict : all) EXPECT_EQ(*verdict, Verdict::right);
}

TEST_F(NetPasswordCheck, LetsOneClientWaitWithTwoPasswordsOnly) {
  check->set_users({{"alice", "one"}});
  ask("alice", "a", "guesser");
  ask("alice", "b", "guesser");
  EXPECT_EQ(*ask("alice", "c", "guesser"), Verdict::queue_full);
  const Verdict* const other = ask("alice", "one", "prometheus");
  run();
  EXPECT_EQ(*other, Verdict::right);
}

TEST_F(NetPasswordCheck, BoundsWhatWaitsInAll) {
  check->set_users({{"alice", "one"}});
  for (std::size_t i = 0; i < PasswordCheck::kMostWaiting; ++i)
    EXPECT_EQ(*ask("alice", "guess", "client " + std::to_string(i)), kNone);
  for (std::size_t i = 1; i < PasswordCheck::kMostWaiting; ++i)
    ask("alice", "guess " + std::to_string(i), "client " + std::to_string(i));
  EXPECT_EQ(*ask("alice", "one", "late"), Verdict::queue_full);
  run();
  const Verdict* const again = ask("alice", "one", "late");
  run();
  EXPECT_EQ(*again, Verdict::right);
}

TEST_F(NetPasswordCheck, MayGoWhileAPasswordIsBeingChecked) {
  check->set_users({{"alice", "one"}});
  const Verdict* const verdict = ask("alice", "one");
  auto finish = jobs.at(0)();
  check.reset();
  finish();
  EXPECT_EQ(*verdict, kNone);
}

/// Hashes of "secret" by crypt(3).
TEST(NetBcrypt, KnowsThePasswordOfAHashAndNoOther) {
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

TEST(NetBasicAuth, DecodesUserAndPassword) {
  EXPECT_EQ(shown("Basic YWxpY2U6c2VjcmV0"), "alice|secret");
  EXPECT_EQ(shown("basic  YWxpY2U6c2VjcmV0"), "alice|secret");
  EXPECT_EQ(shown("Basic YTpiOmM="), "a|b:c");
  EXPECT_EQ(shown("Basic Og=="), "|");
  EXPECT_EQ(shown("Basic YTo="), "a|");
  using namespace std::string_literals;
  EXPECT_EQ(shown("Basic YTpiAGM="), "a|b\0c"s);
}

TEST(NetBasicAuth, IsNotWhatIsMalformed) {
  for (const char* header :
       {"", "Basic", "Basic ", "Basic YQ==", "Bearer YWxpY2U6c2VjcmV0", "Basic YWxpY2U6c2VjcmV",
        "Basic YWxp Y2U6c2VjcmV0", "Basic ====", "Basic Y===", "Basic Yl9=Yl9=", "Basic ", "B",
        "BasicYWxpY2U6c2VjcmV0", "Basic !WxpY2U6c2VjcmV0"})
    EXPECT_EQ(shown(header), "none") << header;
}

}  // namespace
}  // namespace rdma_exporter::net
