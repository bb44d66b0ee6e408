// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/hfi1/chip.c, verbs.c (Omni-Path). Only the counters of its software RC transport
// (rc.c) have a vendor-neutral meaning; some 500 others, many numbered by virtual lane, engine or context,
// are raw and have no row. Packets and words of the link are in the PMA files. The driver itself extends most
// of its 32-bit hardware counters (",32" in the name) to 64 bits.
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

constexpr std::array kPort{
    curated("RcResend", kPortRetransmittedPackets, kAll),
    curated("RnrNak", kPortRnrNaks, kRx),
    curated("RcTimeOut", kPortAckTimeouts),
    curated("SeqNak", kPortSequenceNaks, kRx),  // received as requester
    curated("RcSeqNak", kPortOutOfSequence),    // a gap seen as responder, counted once until it closes
    curated("RcDupRew", kPortDuplicateRequests),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort) == 0);

}  // namespace

std::span<const CounterRow> hfi1_port() { return kPort; }

}  // namespace rdma_exporter::collectors::table
