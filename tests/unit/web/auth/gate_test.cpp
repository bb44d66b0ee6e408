// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "web/auth/gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "http/session/connection.h"
#include "web/auth/credentials.h"

// What a change of the policy does to who is let in.
namespace rdma_exporter::web {
namespace {

/// With passwords that are their own hashes, checked at once.
class WebGate : public testing::Test {
 protected:
  WebGate()
      : gate(std::make_shared<PasswordCheck>(
            [](const task::LoopTasks::Job& job) {
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
  std::optional<http::Admission> admission(const std::string& base64 = "") {
    http::Request request;
    if (!base64.empty()) request.authorization = "Basic " + base64;
    std::optional<http::Admission> result;
    gate.admit(request, "192.0.2.1", [&](http::Admission answer) { result = answer; });
    return result;
  }

  Gate gate;
  const std::string alice_ = "YWxpY2U6cGFzcw==";  // alice:pass
};

TEST_F(WebGate, ForgetsAUserWhoIsNoLongerInTheFile) {
  use({{"alice", "pass"}, {"bob", "word"}});
  EXPECT_EQ(admission(alice_), http::Admission::admitted);
  use({{"bob", "word"}});
  EXPECT_EQ(admission(alice_), http::Admission::wrong_credentials);
  use({{"alice", "other"}});
  EXPECT_EQ(admission(alice_), http::Admission::wrong_credentials);
  use({{"alice", "pass"}});
  EXPECT_EQ(admission(alice_), http::Admission::admitted);
  EXPECT_EQ(admission(), http::Admission::no_credentials);
}

TEST_F(WebGate, DoesNotLetAnUnknownUserInWithThePasswordOfAnother) {
  use({{"bob", "pass"}});
  EXPECT_EQ(admission(alice_), http::Admission::wrong_credentials);
}

TEST_F(WebGate, KeepsWhatWasSpentOfALimitThatDidNotChange) {
  const config::RateLimit hour{std::chrono::hours(1), 2};
  use({}, hour);
  EXPECT_EQ(admission(), http::Admission::admitted);
  EXPECT_EQ(admission(), http::Admission::admitted);
  EXPECT_EQ(admission(), http::Admission::rate_limited);
  use({}, hour);
  EXPECT_EQ(admission(), http::Admission::rate_limited);
  use({}, config::RateLimit{std::chrono::hours(1), 1});
  EXPECT_EQ(admission(), http::Admission::admitted);
  EXPECT_EQ(admission(), http::Admission::rate_limited);
  use({});
  EXPECT_EQ(admission(), http::Admission::admitted);
}

TEST(WebKeyedHash, KnowsWhereAPartEnds) {
  const KeyedHash hash;
  EXPECT_EQ(hash({"ab", "c"}), hash({"ab", "c"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"a", "bc"}));
  EXPECT_NE(hash({"ab", "c"}), hash({"abc"}));
  EXPECT_NE(hash({"ab", "c"}), KeyedHash()({"ab", "c"})) << "each object has a key of its own";
}

TEST(WebLogThrottle, LetsOneLineThroughAMinute) {
  http::LogThrottle pause;
  EXPECT_TRUE(pause.should_log());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(pause.should_log());
  EXPECT_TRUE(http::LogThrottle().should_log()) << "each has its own";
}

}  // namespace
}  // namespace rdma_exporter::web
