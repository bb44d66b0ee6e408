// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "core/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rdma_exporter::core {
namespace {

TEST(ErrnoName, IsTheSymbolThatOperatorsKnow) {
  EXPECT_EQ(errno_name(EIO), "EIO");
  EXPECT_EQ(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
  EXPECT_EQ(errno_name(524), "ENOTSUPP") << "the kernel's own: include/linux/errno.h";
}

TEST(ErrnoName, StaysBoundedForNumbersWithoutName) {
  EXPECT_EQ(errno_name(123456), "errno_other");
  EXPECT_EQ(errno_name(-5), "errno_other");
}

}  // namespace
}  // namespace rdma_exporter::core
