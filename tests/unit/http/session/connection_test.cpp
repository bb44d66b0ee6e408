// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "http/session/connection.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

// Who has to go when there are too many connections, or too many pages.
namespace rdma_exporter::http {
namespace {

class HttpConnections : public testing::Test {
 protected:
  class Fake final : public Connection {
   public:
    Fake(Connections& all, std::vector<std::string>& gone, std::string name)
        : all_(all), gone_(gone), name_(std::move(name)) {}
    void stop() override {}
    void close() override {
      gone_.push_back(name_);
      all_.remove(*this);
    }
    std::size_t sending() const override { return bytes; }

    std::size_t bytes = 0;

   private:
    Connections& all_;
    std::vector<std::string>& gone_;
    std::string name_;
  };

  Fake& add(const std::string& name, const std::string& address,
            ConnectionState state = ConnectionState::fresh) {
    Fake& one = made_.emplace_back(connections, gone, name);
    connections.add(one, address);
    if (state != ConnectionState::fresh) connections.move(one, state);
    return one;
  }
  Fake& add_sending(const std::string& name, const std::string& address, std::size_t bytes) {
    Fake& one = add(name, address, ConnectionState::busy);
    one.bytes = bytes;
    return one;
  }
  void displace(int times) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(connections.evict_one());
  }

  using Names = std::vector<std::string>;
  Connections connections;
  Names gone;

 private:
  std::deque<Fake> made_;
};

TEST_F(HttpConnections, OfOneAddressGoFreshOnesFirstAndTheOldestOfThem) {
  add("idle", "a", ConnectionState::idle);
  add("first", "a");
  add("busy", "a", ConnectionState::busy);
  add("second", "a");
  displace(3);
  EXPECT_EQ(gone, (Names{"first", "second", "idle"}));
  EXPECT_FALSE(connections.evict_one()) << "no request is lost";
  EXPECT_EQ(connections.size(), 1U);
}

TEST_F(HttpConnections, TheAddressWithMostOfThemMakesRoom) {
  add("slow but honest", "good");
  for (int i = 0; i < 3; ++i) add("flood " + std::to_string(i), "bad");
  add("flood that has asked", "bad", ConnectionState::idle);
  displace(3);
  EXPECT_EQ(gone, (Names{"flood 0", "flood 1", "flood 2"}));
  displace(1);
  EXPECT_EQ(gone.back(), "slow but honest") << "of addresses with as many, the fresh one";
}

TEST_F(HttpConnections, OfAddressesWithAsManyTheOldestGoes) {
  add("a", "1");
  add("b", "2", ConnectionState::idle);
  add("c", "3");
  displace(3);
  EXPECT_EQ(gone, (Names{"a", "c", "b"}));
}

TEST_F(HttpConnections, RequestsInWorkDoNotCount) {
  for (int i = 0; i < 5; ++i) add("busy", "1", ConnectionState::busy);
  add("x", "2");
  add("y", "2");
  displace(2);
  EXPECT_EQ(gone, (Names{"x", "y"}));
  EXPECT_FALSE(connections.evict_one());
}

TEST_F(HttpConnections, AnAddressIsForgottenWithItsLastConnection) {
  for (int i = 0; i < 1000; ++i) {
    Fake& one = add("x", std::to_string(i));
    connections.move(one, ConnectionState::busy);
    connections.move(one, ConnectionState::idle);
    connections.remove(one);
  }
  EXPECT_EQ(connections.size(), 0U);
  EXPECT_FALSE(connections.evict_one());
}

TEST_F(HttpConnections, PagesOfTheAddressThatIsSentMostMakeRoomForThatOfAnother) {
  Fake& asker = add("asker", "good", ConnectionState::busy);
  add_sending("first", "bad", 100);
  add_sending("second", "bad", 100);
  add_sending("other", "third", 150);
  EXPECT_TRUE(connections.free_pages(asker, 1));
  EXPECT_EQ(gone, Names{"first"});
  EXPECT_TRUE(connections.free_pages(asker, 200));
  EXPECT_EQ(gone, (Names{"first", "other", "second"}));
  EXPECT_FALSE(connections.free_pages(asker, 1)) << "nothing is left to free";
}

TEST_F(HttpConnections, WhoIsSentMostIsGivenNoRoom) {
  Fake& asker = add("asker", "bad", ConnectionState::busy);
  add_sending("mine", "bad", 100);
  add_sending("good", "good", 100);
  EXPECT_FALSE(connections.free_pages(asker, 1));
  EXPECT_TRUE(gone.empty());
}

TEST(LogThrottle, LetsOneLineThroughAMinute) {
  LogThrottle throttle;
  EXPECT_TRUE(throttle.should_log());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(throttle.should_log());
}

}  // namespace
}  // namespace rdma_exporter::http
