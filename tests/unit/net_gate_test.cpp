// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "net/gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "net/connection.h"
#include "net/keyed_hash.h"

// What a change of the policy does to who is let in.
namespace rdma_exporter::net {
namespace {

/// With passwords that are their own hashes, checked at once.
class NetGate : public testing::Test {
 protected:
  NetGate()
      : gate(std::make_shared<PasswordCheck>(
            [](const Worker::Job& job) {
              job()();
              return true;
            },
            [](const std::string& password, const std::string& hash) { return password == hash; })) {}

  void use(std::map<std::string, std::string> users, std::optional<config::RateLimit> limit = {}) {
    auto policy = std::make_shared<Policy>();
    policy->users = std::move(users);
    policy->rate_limit = limit;
    gate.use(std::move(policy));
  }
  std::optional<Admission> admission(const std::string& base64 = "") {
    Request request;
    if (!base64.empty()) request.authorization = "Basic " + base64;
    std::optional<Admission> result;
    gate.admit(request, "192.0.2.1", [&](Admission answer) { result = answer; });
    return result;
  }

  Gate gate;
  const std::string alice_ = "YWxpY2U6cGFzcw==";  // alice:pass
};

TEST_F(NetGate, ForgetsAUserWhoIsNoLongerInTheFile) {
  use({{"alice", "pass"}, {"bob", "word"}});
  EXPECT_EQ(admission(alice_), Admission::admitted);
  use({{"bob", "word"}});
  EXPECT_EQ(admission(alice_), Admission::wrong_credentials);
  use({{"alice", "other"}});
  EXPECT_EQ(admission(alice_), Admission::wrong_credentials);
  use({{"alice", "pass"}});
  EXPECT_EQ(admission(alice_), Admission::admitted);
  EXPECT_EQ(admission(), Admission::no_credentials);
}

TEST_F(NetGate, DoesNotLetAnUnknownUserInWithThePasswordOfAnother) {
  use({{"bob", "pass"}});
  EXPECT_EQ(admission(alice_), Admission::wrong_credentials);
}

TEST_F(NetGate, KeepsWhatWasSpentOfALimitThatDidNotChange) {
  const config::RateLimit hour{std::chrono::hours(1), 2};
  use({}, hour);
  EXPECT_EQ(admission(), Admission::admitted);
  EXPECT_EQ(admission(), Admission::admitted);
  EXPECT_EQ(admission(), Admission::rate_limited);
  use({}, hour);
  EXPECT_EQ(admission(), Admission::rate_limited);
  use({}, config::RateLimit{std::chrono::hours(1), 1});
  EXPECT_EQ(admission(), Admission::admitted);
  EXPECT_EQ(admission(), Admission::rate_limited);
  use({});
  EXPECT_EQ(admission(), Admission::admitted);
}

TEST(NetKeyedHash, KnowsWhereAPartEnds) {
  const KeyedHash hash;
  EXPECT_EQ(hash({"ab", "c"}), hash({"ab", "c"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"abc"}));
  EXPECT_NE(hash({"ab", "c"}), KeyedHash()({"ab", "c"})) << "each object has a key of its own";
}

TEST(NetLogPause, LetsOneLineThroughAMinute) {
  LogPause pause;
  EXPECT_TRUE(pause.over());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(pause.over());
  EXPECT_TRUE(LogPause().over()) << "each has its own";
}

}  // namespace
}  // namespace rdma_exporter::net
