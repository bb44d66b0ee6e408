// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
// Whose work gets a worker if the work of others hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "task/pool.h"

namespace rdma_exporter::task {
namespace {

using namespace std::chrono_literals;

class OwnedCall : public Work {
 public:
  OwnedCall(std::shared_ptr<Owner> owner, std::function<void()> call)
      : owner_(std::move(owner)), call_(std::move(call)) {}
  void execute() override { call_(); }
  std::shared_ptr<Owner> owner() const override { return owner_; }

 private:
  std::shared_ptr<Owner> owner_;
  std::function<void()> call_;
};

class PoolOwners : public testing::Test {
 protected:
  ~PoolOwners() override {
    release_.count_down();
    EXPECT_TRUE(pool_.stop(std::chrono::steady_clock::now() + 10s));
  }

  std::vector<std::shared_ptr<Owner>> make_owners(std::size_t count) {
    std::vector<std::shared_ptr<Owner>> owners;
    for (std::size_t i = 0; i < count; ++i) owners.push_back(std::make_shared<Owner>());
    pool_.set_owners(count);
    return owners;
  }
  std::shared_ptr<Work> submit(const std::shared_ptr<Owner>& owner, std::function<void()> call) {
    auto work = std::make_shared<OwnedCall>(owner, std::move(call));
    const std::shared_ptr<Work> base = work;
    pool_.submit({&base, 1});
    return work;
  }
  void hang(const std::shared_ptr<Owner>& owner) {
    submit(owner, [this] {
      ++stuck_;
      release_.wait();
    });
  }
  // As a scrape does while it waits.
  template <typename Condition>
  bool nudged_until(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i) {
      pool_.nudge();
      std::this_thread::sleep_for(2ms);
    }
    return condition();
  }
  void nudge_for_a_while() {
    nudged_until([] { return false; });
  }

  static constexpr unsigned kMax = 32;
  Pool pool_{{.max_workers = kMax}};
  std::latch release_{1};
  std::atomic<unsigned> stuck_ = 0;
};

TEST_F(PoolOwners, OneThatHangsHoldsAFewWorkersAtMost) {
  const auto owners = make_owners(2);
  for (int i = 0; i < 50; ++i) hang(owners[0]);
  nudge_for_a_while();
  EXPECT_EQ(stuck_, Pool::kMaxPerOwner);
  EXPECT_EQ(pool_.stats().workers, Pool::kMaxPerOwner) << "a worker more would find nothing to do";
  EXPECT_GT(pool_.stats().limit_reached, 0U);
  std::atomic<bool> done = false;
  submit(owners[1], [&] { done = true; });
  EXPECT_TRUE(nudged_until([&] { return done.load(); }));
}

TEST_F(PoolOwners, ThatHangNeverTakeTheLastWorkerOfAnotherOne) {
  for (const std::size_t count : {std::size_t{8}, std::size_t{20}, std::size_t{kMax}}) {
    SCOPED_TRACE(count);
    Pool pool({.max_workers = kMax});
    const auto release = std::make_shared<std::latch>(1);
    const auto stuck = std::make_shared<std::atomic<unsigned>>(0);
    const auto done = std::make_shared<std::atomic<bool>>(false);
    pool.set_owners(count);
    std::vector<std::shared_ptr<Work>> work;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      const auto owner = std::make_shared<Owner>();
      for (int j = 0; j < 12; ++j)
        work.push_back(std::make_shared<OwnedCall>(owner, [release, stuck] {
          ++*stuck;
          release->wait();
        }));
    }
    pool.submit(work);
    for (int i = 0; i < 100; ++i) {
      pool.nudge();
      std::this_thread::sleep_for(2ms);
    }
    EXPECT_GE(*stuck, count - 1);
    EXPECT_LT(*stuck, kMax);
    const std::shared_ptr<Work> healthy =
        std::make_shared<OwnedCall>(std::make_shared<Owner>(), [done] { *done = true; });
    pool.submit({&healthy, 1});
    for (int i = 0; i < 500 && !*done; ++i) {
      pool.nudge();
      std::this_thread::sleep_for(2ms);
    }
    EXPECT_TRUE(*done);
    release->count_down();
    EXPECT_TRUE(pool.stop(std::chrono::steady_clock::now() + 10s));
  }
}

TEST_F(PoolOwners, GoOnWithTheirOtherWorkWhenTheirReadsReturn) {
  const auto owners = make_owners(1);
  constexpr unsigned kAll = 3 * Pool::kMaxPerOwner;
  for (unsigned i = 0; i < kAll; ++i) hang(owners[0]);
  ASSERT_TRUE(nudged_until([&] { return stuck_ == Pool::kMaxPerOwner; }));
  release_.count_down();
  EXPECT_TRUE(nudged_until([&] { return stuck_ == kAll; }));
  release_.wait();
  EXPECT_TRUE(nudged_until([&] { return owners[0].use_count() <= 2; }));
}

TEST_F(PoolOwners, WithdrawnWorkIsNeverDoneAndHeldByNobody) {
  const auto owners = make_owners(2);
  for (unsigned i = 0; i < Pool::kMaxPerOwner; ++i) hang(owners[0]);
  ASSERT_TRUE(nudged_until([&] { return stuck_ == Pool::kMaxPerOwner; }));
  std::atomic<bool> done = false;
  std::shared_ptr<Work> work = submit(owners[0], [&] { done = true; });
  EXPECT_EQ(pool_.stats().waiting, 1U);
  EXPECT_EQ(pool_.withdraw(*work), work);
  EXPECT_EQ(pool_.withdraw(*work), nullptr);
  EXPECT_EQ(pool_.stats().waiting, 0U);
  EXPECT_EQ(work.use_count(), 1);
  submit(owners[1], [] {});
  EXPECT_TRUE(nudged_until([&] { return pool_.stats().waiting == 0; }));
  EXPECT_FALSE(done);
}

TEST_F(PoolOwners, SlowWorkGetsMoreWorkersThanOne) {
  const auto owners = make_owners(20);
  std::atomic<int> done = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 150; ++i)
    submit(owners[static_cast<std::size_t>(i) % owners.size()], [&] {
      std::this_thread::sleep_for(20ms);
      ++done;
    });
  while (done < 150) {
    std::this_thread::sleep_for(25ms);
    pool_.nudge();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1500ms) << "one after the other takes 3 s";
}

TEST_F(PoolOwners, QuickWorkStaysOnOneWorker) {
  const auto owners = make_owners(8);
  std::atomic<int> done = 0;
  for (int round = 1; round <= 20; ++round) {
    for (const auto& owner : owners)
      for (int i = 0; i < 12; ++i) submit(owner, [&] { ++done; });
    for (int i = 0; i < 2000 && done < round * 96; ++i) std::this_thread::sleep_for(1ms);
    pool_.nudge();
    ASSERT_EQ(done, round * 96);
  }
  EXPECT_EQ(pool_.stats().workers, 1U);
}

}  // namespace
}  // namespace rdma_exporter::task
