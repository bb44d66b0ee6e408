// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/netlink.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "host/netlink/nldev/nldev.h"
#include "tests/unit/support/recorded_netlink.h"

namespace rdma_exporter::host {
namespace {

class AskTest : public ::testing::Test {
 protected:
  core::Result<nldev::Device> device() {
    return ask<nldev::Device>(netlink_, nldev::kGet, {}, nldev::parse_device);
  }

  // How many messages of a dump were read, and how it ended.
  core::Result<void> names(std::size_t wanted) {
    return walk(netlink_, nldev::kGet, {}, [&](Bytes message) {
      return nldev::parse_device(message).map([&](const nldev::Device& device) {
        names_.push_back(device.name);
        return names_.size() < wanted;
      });
    });
  }

  const test::Message whole_ = test::recorded_message("get_0.bin");
  const test::Message torn_{whole_.begin(), whole_.begin() + 6};
  std::shared_ptr<test::Script> script_ = std::make_shared<test::Script>();
  test::ScriptedNetlink netlink_{script_};
  std::vector<std::string> names_;
};

TEST_F(AskTest, GivesWhatTheParserMakesOfTheAnswer) {
  script_->answers[nldev::kGet] = {whole_};
  const auto answer = device();
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->name.empty());
}

TEST_F(AskTest, TellsARefusalFromAnAnswerThatCannotBeReadAndFromNone) {
  script_->answers[nldev::kGet] = {torn_};
  EXPECT_EQ(core::reason(device().error()), "parse");
  script_->answers.clear();
  EXPECT_EQ(core::reason(device().error()), "parse") << "no answer is no value";
  script_->refusals[nldev::kGet] = EPERM;
  EXPECT_EQ(core::reason(device().error()), "EPERM");
}

TEST_F(AskTest, ADumpEndsWhereItsReaderWantsNoMoreOrCannotRead) {
  script_->answers[nldev::kGet] = {whole_, whole_, whole_};
  EXPECT_TRUE(names(2));
  EXPECT_EQ(names_.size(), 2U);
  names_.clear();
  script_->answers[nldev::kGet] = {whole_, torn_, whole_};
  EXPECT_EQ(core::reason(names(10).error()), "parse");
  EXPECT_EQ(names_.size(), 1U) << "nothing behind the error is read";
}

TEST_F(AskTest, ADumpThatTheKernelBreaksOffIsAnError) {
  script_->answers[nldev::kGet] = {whole_};
  script_->refusals[nldev::kGet] = EINTR;
  EXPECT_TRUE(core::is_errno(names(10).error(), EINTR));
  EXPECT_EQ(names_.size(), 1U) << "what came before it was given";
}

}  // namespace
}  // namespace rdma_exporter::host
