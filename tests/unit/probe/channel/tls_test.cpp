// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/channel/tls.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

TEST(StampWatch, ActsOnAChangeThatStoodStillForALook) {
  StampWatch watch;
  EXPECT_FALSE(watch.changed("a", "a"));
  EXPECT_FALSE(watch.changed("a", "half of b"));
  EXPECT_FALSE(watch.changed("a", "b")) << "it was being written";
  EXPECT_TRUE(watch.changed("a", "b"));
  EXPECT_FALSE(watch.changed("b", "b")) << "that is in use now";
}

TEST(StampWatch, TriesWhatIsNoGoodOnce) {
  StampWatch watch;
  watch.changed("a", "bad");
  EXPECT_TRUE(watch.changed("a", "bad"));
  EXPECT_FALSE(watch.changed("a", "bad"));
  EXPECT_FALSE(watch.changed("a", "good"));
  EXPECT_TRUE(watch.changed("a", "good"));
}

// A look between the removal of a file and its successor sees none of it.
TEST(StampWatch, DoesNotTakeAMissingFileForAChangeAtOnce) {
  StampWatch watch;
  watch.changed("a", "a");
  EXPECT_FALSE(watch.changed("a", ""));
  EXPECT_FALSE(watch.changed("a", "a"));
}

}  // namespace
}  // namespace rdma_exporter::probe
