// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// drivers/infiniband/hw/irdma/verbs.c (and i40iw before it): statistics of the RDMA traffic of the physical
// function. Linux 6.18 dropped the prefixes tcp and iw, and the third generation added names with spaces.
#include <algorithm>
#include <array>

#include "collectors/counters/tables/row.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors::table {
namespace {

// Names in 6.18 of counters that older kernels spell differently; "ATS" is from an early patch.
constexpr std::array<std::string_view, 15> kOtherSpellings{
    "RetransSegs", "InOptErrors", "InProtoErrors", "InSegs",        "OutSegs",
    "InRdmaReads", "InRdmaSends", "InRdmaWrites",  "OutRdmaReads",  "OutRdmaSends",
    "RdmaBnd",     "RdmaInv",     "Rx ATS",        "OutRdmaWrites", "Tx ATS"};
constexpr bool is_other_spelling(std::string_view raw) {
  return std::find(kOtherSpellings.begin(), kOtherSpellings.end(), raw) != kOtherSpellings.end();
}

constexpr std::array kPort{
    // RDMA runs over both IP versions: the sum is the port's traffic.
    curated("ip4InOctets", kPortDataBytes, kRx),
    curated("ip6InOctets", kPortDataBytes, kRx),
    curated("ip4OutOctets", kPortDataBytes, kTx),
    curated("ip6OutOctets", kPortDataBytes, kTx),
    curated("ip4InPkts", kPortPackets, kRx),
    curated("ip6InPkts", kPortPackets, kRx),
    curated("ip4OutPkts", kPortPackets, kTx),
    curated("ip6OutPkts", kPortPackets, kTx),
    curated("ip4InMcastPkts", kPortMulticastPackets, kRx),
    curated("ip6InMcastPkts", kPortMulticastPackets, kRx),
    curated("ip4OutMcastPkts", kPortMulticastPackets, kTx),
    curated("ip6OutMcastPkts", kPortMulticastPackets, kTx),
    raw_only("ip4InMcastOctets"),
    raw_only("ip6InMcastOctets"),
    raw_only("ip4OutMcastOctets"),
    raw_only("ip6OutMcastOctets"),
    raw_only("ip4InDiscards"),
    raw_only("ip6InDiscards"),
    raw_only("ip4InTruncatedPkts"),
    raw_only("ip6InTruncatedPkts"),
    raw_only("ip4OutNoRoutes"),
    raw_only("ip6OutNoRoutes"),
    raw_only("ip4InReasmRqd"),
    raw_only("ip6InReasmRqd"),
    raw_only("ip4OutSegRqd"),
    raw_only("ip6OutSegRqd"),
    raw_only("rxVlanErrors"),
    raw_only("RxUDP"),  // the RoCE v2 part of the packets above
    raw_only("TxUDP"),

    curated("tcpRetransSegs", kPortRetransmittedPackets, kAll),
    curated("RetransSegs", kPortRetransmittedPackets, kAll),
    raw_only("tcpInOptErrors"),
    raw_only("InOptErrors"),
    raw_only("tcpInProtoErrors"),
    raw_only("InProtoErrors"),
    raw_only("tcpInSegs"),
    raw_only("InSegs"),
    raw_only("tcpOutSegs"),
    raw_only("OutSegs"),

    // Includes RoCE, despite "iw".
    curated("iwInRdmaReads", kPortRequests, kRxRead),
    curated("InRdmaReads", kPortRequests, kRxRead),
    curated("iwInRdmaSends", kPortRequests, kRxSend),
    curated("InRdmaSends", kPortRequests, kRxSend),
    curated("iwInRdmaWrites", kPortRequests, kRxWrite),
    curated("InRdmaWrites", kPortRequests, kRxWrite),
    curated("iwOutRdmaReads", kPortRequests, kTxRead),
    curated("OutRdmaReads", kPortRequests, kTxRead),
    curated("iwOutRdmaSends", kPortRequests, kTxSend),
    curated("OutRdmaSends", kPortRequests, kTxSend),
    curated("iwOutRdmaWrites", kPortRequests, kTxWrite),
    curated("OutRdmaWrites", kPortRequests, kTxWrite),
    curated("Rx atomics", kPortRequests, kRxAtomic),
    curated("Rx ATS", kPortRequests, kRxAtomic),
    curated("Tx atomics", kPortRequests, kTxAtomic),
    curated("Tx ATS", kPortRequests, kTxAtomic),
    raw_only("iwRdmaBnd"),
    raw_only("RdmaBnd"),
    raw_only("iwRdmaInv"),
    raw_only("RdmaInv"),

    curated("RxECNMrkd", kPortEcnMarked),
    // A received CNP is either handled or ignored; their sum is all received CNPs.
    curated("cnpHandled", kPortCnpPackets, kRx),
    curated("cnpIgnored", kPortCnpPackets, kRx),
    curated("cnpIgnored", kPortCnpIgnored),
    curated("cnpSent", kPortCnpPackets, kTx),

    curated("RNR sent", kPortRnrNaks, kTx),
    curated("RNR received", kPortRnrNaks, kRx),
    raw_only("ord limit count"),
    raw_only("ird limit count"),
    curated("Nak Sequence Error", kPortSequenceNaks, kRx),
    curated("Nak Sequence Error Implied", kPortImpliedNaks),
    curated("RTO", kPortAckTimeouts),
    curated("Rcvd Out of order packets", kPortOutOfSequence),
    curated("CRC errors", kPortIcrcErrors),
};
static_assert(all_valid(kPort));
static_assert(count_summed(kPort, is_other_spelling) == 6 * 2 + 2,
              "ip4 + ip6 of six series, cnpHandled + cnpIgnored");
static_assert(other_spellings_have_twin(kPort, is_other_spelling));

}  // namespace

std::span<const CounterRow> irdma_port() { return kPort; }
bool irdma_other_spelling(std::string_view raw) { return is_other_spelling(raw); }

}  // namespace rdma_exporter::collectors::table
