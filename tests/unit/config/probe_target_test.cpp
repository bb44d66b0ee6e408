// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/probe_target.h"

#include <gtest/gtest.h>

namespace rdma_exporter::config {
namespace {

TEST(ProbeTarget, HasAnAddressAndPerhapsAPortAndAttributes) {
  const auto plain = parse_probe_target("gpu-17");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->address, "gpu-17");
  EXPECT_EQ(plain->port, 9401);
  const auto whole =
      parse_probe_target("[2001:db8::1]:7,name=a b,group=pod1,device=mlx5_1,from=mlx5_0,source=10.0.0.1");
  ASSERT_TRUE(whole) << whole.error().context.text();
  EXPECT_EQ(*whole, (ProbeTarget{"2001:db8::1", 7, "a b", "pod1", "mlx5_1", "mlx5_0", "10.0.0.1"}));
}

TEST(ProbeTarget, IsPrintedAsItIsRead) {
  for (const char* text : {"gpu-17:9401", "[::1]:1,name=x", "192.0.2.1:65535,group=g,source=192.0.2.7"}) {
    const auto target = parse_probe_target(text);
    ASSERT_TRUE(target) << text;
    EXPECT_EQ(to_string(*target), text);
  }
}

TEST(ProbeTarget, RefusesWhatIsNone) {
  for (const char* text : {"", ":9401", "a:b", "a:0", "a:70000", "unix:/x", "a,", "a,name",
                           "a,name=", "a,colour=red", "a,name=b,name=c", "[::1", "[]", "a b"})
    EXPECT_FALSE(parse_probe_target(text)) << text;
}

}  // namespace
}  // namespace rdma_exporter::config
