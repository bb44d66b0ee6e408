// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/kept_netlink.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>

#include "host/host.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

class KeptNetlinkTest : public ::testing::Test {
 protected:
  // Conversations that are counted while they are there.
  class Counted : public test::ScriptedNetlink {
   public:
    Counted(std::shared_ptr<test::Script> script, int& open, int& made)
        : ScriptedNetlink(std::move(script)), open_(open) {
      ++open_;
      ++made;
    }
    ~Counted() override { --open_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

   private:
    int& open_;
  };

  static void ask(Netlink& netlink) {
    (void)netlink.request(1, 0, {}, [](Bytes) {});
  }

  int open_ = 0;
  int made_ = 0;
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  Host host_{
      .sysfs = nullptr,
      .procfs = nullptr,
      .make_netlink = [this](NetlinkProtocol) { return std::make_unique<Counted>(script_, open_, made_); },
      .open_files = OpenFileBudget(1)};
};

TEST_F(KeptNetlinkTest, OneSocketServesAllWhoAskOneAfterTheOther) {
  auto first = kept_netlink(host_, NetlinkProtocol::rdma);
  const auto second = kept_netlink(host_, NetlinkProtocol::rdma);
  EXPECT_EQ(host_.open_files.used(), 0U) << "a socket is opened by the first request";
  for (int i = 0; i < 3; ++i) {
    ask(*first);
    ask(*second);
    EXPECT_EQ(open_, 1);
    EXPECT_EQ(host_.open_files.used(), 1U);
  }
  EXPECT_EQ(script_->requests[1], 6);
  EXPECT_EQ(made_, 3) << "one socket, and one for each who asked whether there is netlink";
  first.reset();
  ask(*second);
  EXPECT_EQ(made_, 3) << "the socket outlives who opened it";
}

TEST_F(KeptNetlinkTest, WhoAsksWhileAnotherWaitsHasASocketOfItsOwn) {
  const auto outer = kept_netlink(host_, NetlinkProtocol::rdma);
  const auto inner = kept_netlink(host_, NetlinkProtocol::rdma);
  const auto route = kept_netlink(host_, NetlinkProtocol::route);
  script_->answers[1] = {test::Message(4)};
  for (int i = 0; i < 2; ++i) {
    (void)outer->request(1, 0, {}, [&](Bytes) {
      (void)inner->request(1, 0, {}, [&](Bytes) { EXPECT_EQ(open_, 2); });
      EXPECT_EQ(host_.open_files.used(), 1U) << "the budget holds one";
    });
    EXPECT_EQ(open_, 1) << "beyond the budget a socket is opened for each request";
  }
  ask(*route);
  EXPECT_EQ(open_, 1) << "a family is not asked through the socket of another";
}

TEST_F(KeptNetlinkTest, ASocketWhoseAnswerWasLeftHalfReadIsClosed) {
  const auto netlink = kept_netlink(host_, NetlinkProtocol::rdma);
  script_->answers[1] = {test::Message(4)};
  EXPECT_THROW((void)netlink->request(1, 0, {}, [](Bytes) { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(open_, 0);
  EXPECT_EQ(host_.open_files.used(), 0U);
}

TEST_F(KeptNetlinkTest, IsGivenBackWhenTheProcessHasNoMoreDescriptors) {
  const auto netlink = kept_netlink(host_, NetlinkProtocol::rdma);
  ask(*netlink);
  script_->refusals[1] = EMFILE;
  ask(*netlink);
  script_->refusals.clear();
  ask(*netlink);
  EXPECT_EQ(open_, 0);
  EXPECT_EQ(host_.open_files.used(), 0U);
  EXPECT_EQ(script_->requests[1], 3) << "asked all the same";
}

TEST_F(KeptNetlinkTest, IsNoneWhereNetlinkIsNotUsed) {
  host_.make_netlink = [](NetlinkProtocol) { return nullptr; };
  EXPECT_EQ(kept_netlink(host_, NetlinkProtocol::rdma), nullptr);
}

}  // namespace
}  // namespace rdma_exporter::host
