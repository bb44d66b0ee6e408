// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/wc_status.h"

#include <gtest/gtest.h>

namespace rdma_exporter::probe {
namespace {

TEST(WcStatus, HasTheNameThatOperatorsKnow) {
  EXPECT_EQ(wc_status_name(kWcSuccess), "success");
  EXPECT_EQ(wc_status_name(kWcFlushed), "wr_flush_err");
  EXPECT_EQ(wc_status_name(kWcInvalidRequest), "rem_inv_req_err");
  EXPECT_EQ(wc_status_name(10), "rem_access_err");
  EXPECT_EQ(wc_status_name(kWcRetryExceeded), "retry_exc_err");
  EXPECT_EQ(wc_status_name(kWcRnrRetryExceeded), "rnr_retry_exc_err");
  EXPECT_EQ(wc_status_name(23), "tm_rndv_incomplete");
}

TEST(WcStatus, OfANumberThatNobodyKnowsIsOneName) {
  EXPECT_EQ(wc_status_name(24), "unknown_err");
  EXPECT_EQ(wc_status_name(-1), "unknown_err");
}

}  // namespace
}  // namespace rdma_exporter::probe
