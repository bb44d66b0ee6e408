// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/verbs/wc_status.h"

#include <array>
#include <cstddef>

namespace rdma_exporter::probe {

std::string_view wc_status_name(int status) {
  // In the order of enum ibv_wc_status, infiniband/verbs.h.
  static constexpr std::array<std::string_view, 24> kNames{"success",
                                                           "loc_len_err",
                                                           "loc_qp_op_err",
                                                           "loc_eec_op_err",
                                                           "loc_prot_err",
                                                           "wr_flush_err",
                                                           "mw_bind_err",
                                                           "bad_resp_err",
                                                           "loc_access_err",
                                                           "rem_inv_req_err",
                                                           "rem_access_err",
                                                           "rem_op_err",
                                                           "retry_exc_err",
                                                           "rnr_retry_exc_err",
                                                           "loc_rdd_viol_err",
                                                           "rem_inv_rd_req_err",
                                                           "rem_abort_err",
                                                           "inv_eecn_err",
                                                           "inv_eec_state_err",
                                                           "fatal_err",
                                                           "resp_timeout_err",
                                                           "general_err",
                                                           "tm_err",
                                                           "tm_rndv_incomplete"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? kNames[index] : "unknown_err";
}

}  // namespace rdma_exporter::probe
