// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <deque>
#include <string>

#include "probe/rdma/verbs/cq.h"

namespace rdma_exporter::probe {
namespace {

// A queue that keeps to ibv_create_cq_ex(3) and notes who does not.
struct FakeQueue : ibv_cq_ex {
  struct Entry {
    std::uint64_t id;
    ibv_wc_status result;
    std::uint64_t stamp;
  };
  std::deque<Entry> entries;
  int start_error = 0;
  bool polling = false;
  std::string offences;

  FakeQueue() : ibv_cq_ex{} {
    start_poll = [](ibv_cq_ex* cq, ibv_poll_cq_attr*) { return self(cq).start(); };
    end_poll = [](ibv_cq_ex* cq) { self(cq).end(); };
    read_vendor_err = [](ibv_cq_ex* cq) { return self(cq).vendor(); };
    read_completion_ts = [](ibv_cq_ex* cq) { return self(cq).timestamp(); };
    // The others stay null, as where a driver was not asked for them.
  }

 private:
  static FakeQueue& self(ibv_cq_ex* cq) { return *static_cast<FakeQueue*>(cq); }
  int show() {
    if (entries.empty()) return ENOENT;
    wr_id = entries.front().id;
    status = entries.front().result;
    return 0;
  }
  int start() {
    if (polling) offences += "started twice ";
    const int answer = start_error != 0 ? start_error : show();
    polling = answer == 0;
    return answer;
  }
  void end() {
    if (!polling) offences += "ended without start ";
    polling = false;
    entries.pop_front();
  }
  std::uint32_t vendor() {
    if (status == IBV_WC_SUCCESS) offences += "error of a success ";
    return 0x51;
  }
  std::uint64_t timestamp() {
    if (!polling || status != IBV_WC_SUCCESS) offences += "stamp of nothing ";
    return entries.front().stamp;
  }
};

class ProbeStampedPoll : public testing::Test {
 protected:
  ~ProbeStampedPoll() override {
    EXPECT_EQ(queue.offences, "");
    EXPECT_FALSE(queue.polling) << "left open";
  }
  std::size_t poll(std::size_t most = 16) {
    taken.fill({});
    const auto count = poll_stamped(queue, std::span(taken).first(most));
    EXPECT_TRUE(count);
    return count.value_or(0);
  }

  FakeQueue queue;
  std::array<WorkCompletion, 16> taken;
};

TEST_F(ProbeStampedPoll, FindsNothingInAnEmptyQueue) { EXPECT_EQ(poll(), 0U); }

TEST_F(ProbeStampedPoll, TakesAllWithTheirStamps) {
  queue.entries = {{7, IBV_WC_SUCCESS, 1000}, {8, IBV_WC_SUCCESS, 3000}};
  ASSERT_EQ(poll(), 2U);
  EXPECT_EQ(taken[0].id, 7U);
  EXPECT_EQ(taken[0].stamp, 1000U);
  EXPECT_EQ(taken[1].id, 8U);
  EXPECT_EQ(taken[1].stamp, 3000U);
  EXPECT_EQ(poll(), 0U);
}

TEST_F(ProbeStampedPoll, LeavesWhatItHasNoRoomFor) {
  for (std::uint64_t i = 1; i <= 5; ++i) queue.entries.push_back({i, IBV_WC_SUCCESS, i});
  ASSERT_EQ(poll(2), 2U);
  ASSERT_EQ(poll(0), 0U);
  ASSERT_EQ(poll(16), 3U);
  EXPECT_EQ(taken[0].id, 3U) << "none is lost between two polls";
}

TEST_F(ProbeStampedPoll, ReadsNoStampOfAFailure) {
  queue.entries = {{7, IBV_WC_RETRY_EXC_ERR, 99}, {8, IBV_WC_WR_FLUSH_ERR, 99}};
  ASSERT_EQ(poll(), 2U);
  EXPECT_EQ(taken[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(taken[0].vendor_error, 0x51U);
  EXPECT_EQ(taken[1].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(ProbeStampedPoll, ReportsADeviceThatIsGone) {
  queue.start_error = EIO;
  EXPECT_FALSE(poll_stamped(queue, taken));
}

}  // namespace
}  // namespace rdma_exporter::probe
