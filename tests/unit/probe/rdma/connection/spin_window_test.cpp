// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/connection/spin_window.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kWakeUp = 150us;

// A path of this round trip, with what a sleep adds. Returns how many of `count` were seen without a sleep.
int spun_of(SpinWindow& window, nanoseconds path, int count) {
  int spun = 0;
  for (int i = 0; i < count; ++i) {
    const bool slept = path > window.next();
    window.saw(slept ? path + kWakeUp : path, slept);
    spun += slept ? 0 : 1;
  }
  return spun;
}

TEST(SpinWindow, KeepsAwakeForEveryPathThatIsShortEnough) {
  for (const nanoseconds path :
       {nanoseconds(3us), nanoseconds(20us), nanoseconds(60us), nanoseconds(100us), nanoseconds(190us)}) {
    SpinWindow window;
    EXPECT_EQ(spun_of(window, path, 100), 100) << path.count();
  }
}

TEST(SpinWindow, WakesUpForAPathThatGotLongerAndIsStillShort) {
  SpinWindow window;
  spun_of(window, 4us, 50);
  EXPECT_GE(spun_of(window, 90us, 50), 40) << "although every sleep makes it look longer than is worth it";
}

TEST(SpinWindow, DoesNotSpinInVainForLong) {
  SpinWindow window;
  spun_of(window, 5ms, 10);
  nanoseconds spent{};
  for (int i = 0; i < 640; ++i) {
    spent += window.next();
    window.saw(5ms, true);
  }
  EXPECT_LE(spent / 640, SpinWindow::kMin + 5us);
}

TEST(SpinWindow, FindsOutThatAPathIsShortAgain) {
  SpinWindow window;
  spun_of(window, 5ms, 100);
  spun_of(window, 40us, 64);
  EXPECT_EQ(spun_of(window, 40us, 20), 20);
}

}  // namespace
}  // namespace rdma_exporter::probe
