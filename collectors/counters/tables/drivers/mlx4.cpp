// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/mlx4/main.c: diagnostic counters, all 32 bits wide. rq_ stands for the responder side
// of a queue pair, sq_ for the requester side.
#include <array>
#include <cstddef>
#include <iterator>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr CounterRow diag(std::string_view raw, const core::MetricDesc& family,
                          std::string_view labels = {}) {
  return curated(raw, family, labels, 32);
}
constexpr CounterRow diag_raw(std::string_view raw) { return raw_only(raw, 32); }

constexpr std::array kPort{
    diag("rq_num_lle", kPortAccessErrors, kResponderLength),
    diag("sq_num_lle", kPortAccessErrors, kRequesterLength),
    diag("rq_num_lqpoe", kPortAccessErrors, kResponderLocalOperation),
    diag("sq_num_lqpoe", kPortAccessErrors, kRequesterLocalOperation),
    diag("rq_num_lpe", kPortAccessErrors, kResponderLocalProtection),
    diag("sq_num_lpe", kPortAccessErrors, kRequesterLocalProtection),
    diag("rq_num_wrfe", kPortCqeFlushErrors, kResponder),
    diag("sq_num_wrfe", kPortCqeFlushErrors, kRequester),
    diag_raw("sq_num_mwbe"),  // memory window bind errors
    diag_raw("sq_num_bre"),   // bad responses
    diag("sq_num_rire", kPortAccessErrors, kRequesterInvalid),
    diag("rq_num_rire", kPortAccessErrors, kResponderInvalid),
    diag("sq_num_rae", kPortAccessErrors, kRequesterAccess),
    diag("rq_num_rae", kPortAccessErrors, kResponderAccess),
    diag("sq_num_roe", kPortAccessErrors, kRequesterOperation),
    diag("sq_num_tree", kPortRetriesExceeded, kTransport),
    diag("sq_num_rree", kPortRetriesExceeded, kRnr),
    diag("rq_num_rnr", kPortRnrNaks, kTx),
    diag("sq_num_rnr", kPortRnrNaks, kRx),
    diag("rq_num_oos", kPortOutOfSequence),
    diag("sq_num_oos", kPortSequenceNaks, kRx),
    diag("rq_num_dup", kPortDuplicateRequests),
    diag("sq_num_to", kPortAckTimeouts),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

constexpr CounterRow kDeviceOnly[] = {
    diag_raw("num_cqovf"),       // completion queue overflows
    diag_raw("rq_num_udsdprd"),  // UD packets dropped for lack of a receive descriptor
};

// The device repeats every port counter, for all ports together. These are raw, because each event would
// otherwise be counted twice.
constexpr auto kDevice = [] {
  std::array<CounterRow, kPort.size() + std::size(kDeviceOnly)> rows;
  std::size_t next = 0;
  for (const CounterRow& row : kPort) rows[next++] = raw_only(row.raw, row.bits);
  for (const CounterRow& row : kDeviceOnly) rows[next++] = row;
  return rows;
}();
static_assert(all_valid(kDevice));

}  // namespace

std::span<const CounterRow> mlx4_port() { return kPort; }
std::span<const CounterRow> mlx4_device() { return kDevice; }

}  // namespace rdma_exporter::collectors::table
