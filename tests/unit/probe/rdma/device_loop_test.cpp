// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/device_loop.h"

#include <sched.h>

#include <atomic>

#include "tests/unit/probe/verbs_fixture.h"
#include "tests/unit/support/temp_tree.h"

namespace rdma_exporter::probe {
namespace {

TEST_F(VerbsTest, ALoopWakesWhenSomethingIsDue) {
  const auto loop = loop_of("near0");
  std::atomic<unsigned> calls{0};
  Clock::time_point next{};
  std::atomic<std::int64_t> longest{0};
  loop->add({[&](Clock::time_point now) -> std::optional<Clock::time_point> {
               if (calls++ != 0 && now >= next)
                 longest = std::max<std::int64_t>(longest, (now - next).count());
               if (now >= next) next = now + 20ms;
               return next;
             },
             [](const DeviceEvent&) {}});
  const auto begin = Clock::now();
  loop->start();
  ASSERT_TRUE(soon([&] { return calls >= 10; }));
  EXPECT_LT(Clock::now() - begin, 5s);
  EXPECT_LT(std::chrono::nanoseconds(longest), 2s);
}

TEST_F(VerbsTest, ALoopWakesInTimeAfterMoreThanASecond) {
  const auto loop = loop_of("near0");
  const auto begin = Clock::now();
  std::atomic<bool> woke{false};
  loop->add({[&](Clock::time_point now) {
               if (now - begin >= 1100ms) woke = true;
               return std::optional(woke ? now + 1h : begin + 1100ms);
             },
             [](const DeviceEvent&) {}});
  loop->start();
  EXPECT_TRUE(soon([&] { return woke.load(); }));
}

TEST_F(VerbsTest, ALoopIsNotBusyWhileNothingIsDue) {
  const auto loop = loop_of("near0");
  loop->add({[](Clock::time_point now) { return std::optional(now + 1h); }, [](const DeviceEvent&) {}});
  loop->start();
  on(*loop, [] {});
  std::this_thread::sleep_for(50ms);
  const unsigned polls = fabric.polls("near0");
  std::this_thread::sleep_for(100ms);
  EXPECT_LE(fabric.polls("near0"), polls + 4) << "it sleeps";
}

TEST_F(VerbsTest, ALoopTellsOfEventsAndLeavesADeviceAloneThatIsGoing) {
  const auto loop = loop_of("near0");
  std::mutex mutex;
  std::vector<std::string> events;
  loop->add({[](Clock::time_point now) { return std::optional(now + 10ms); },
             [&](const DeviceEvent& event) {
               const std::lock_guard lock(mutex);
               events.emplace_back(event.name);
             }});
  const auto seen = [&] {
    const std::lock_guard lock(mutex);
    return events;
  };
  loop->start();
  fabric.event("near0", IBV_EVENT_PORT_ERR, 1);
  ASSERT_TRUE(soon([&] { return seen() == std::vector<std::string>{"PORT_ERR"}; }));
  fabric.event("near0", IBV_EVENT_DEVICE_FATAL);
  ASSERT_TRUE(soon([&] { return seen() == (std::vector<std::string>{"PORT_ERR", "DEVICE_FATAL"}); }));
  on(*loop, [] {});
  const unsigned polls = fabric.polls("near0");
  on(*loop, [] {});
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(fabric.polls("near0"), polls) << "its memory may be unmapped";
}

TEST_F(VerbsTest, ALoopReportsADeviceThatFailsAsGone) {
  const auto loop = loop_of("near0");
  std::atomic<unsigned> fatal{0};
  loop->add({[](Clock::time_point now) { return std::optional(now + 10ms); },
             [&](const DeviceEvent& event) { fatal += event.kind == DeviceEvent::Kind::fatal ? 1U : 0U; }});
  loop->start();
  fabric.break_adapter("near0");
  EXPECT_TRUE(soon([&] { return fatal == 1; }));
}

std::vector<std::size_t> usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<std::size_t> processors;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  return processors;
}

TEST_F(VerbsTest, ALoopRunsOnTheProcessorsOfItsDevice) {
  const std::vector<std::size_t> all = usable_processors();
  if (all.size() < 2) GTEST_SKIP() << "there is one processor";
  const test::TempTree tree;
  fabric.set_folder("near0", tree.path("near0"));
  const auto processors_of_loop = [&](const std::string& local) {
    tree.write("near0/device/local_cpulist", local + "\n");
    const auto loop = loop_of("near0");
    loop->start();
    std::vector<std::size_t> found;
    on(*loop, [&] { found = usable_processors(); });
    return found;
  };
  EXPECT_EQ(processors_of_loop(std::to_string(all[1])), std::vector{all[1]});
  EXPECT_EQ(processors_of_loop("1023"), all) << "the process may use none of the device's";
  EXPECT_EQ(processors_of_loop("garbage"), all);
}

}  // namespace
}  // namespace rdma_exporter::probe
