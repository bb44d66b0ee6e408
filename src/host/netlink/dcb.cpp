// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/dcb.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "host/netlink/netlink_attr.h"

namespace rdma_exporter::host::dcb {
namespace {

// Not in the headers of Linux 6.1.
constexpr std::uint16_t kNonStandardApp = 2;  // DCB_ATTR_DCB_APP
constexpr std::uint8_t kSelectorPcp = 255;    // DCB_APP_SEL_PCP

static_assert(IEEE_8021QAZ_MAX_TCS == kPriorities && IEEE_8021Q_MAX_PRIORITIES == kPriorities &&
              DCBX_MAX_BUFFERS == kPriorities);

/// A structure of the kernel's header at the start of `data`, which may be longer in a newer kernel.
template <typename T>
std::optional<T> structure(Bytes data) {
  if (data.size() < sizeof(T)) return std::nullopt;
  T value{};
  std::memcpy(&value, data.data(), sizeof value);
  return value;
}

template <typename T, typename Raw>
std::array<T, kPriorities> array_of(const Raw (&values)[kPriorities]) {
  std::array<T, kPriorities> copy{};
  std::copy(std::begin(values), std::end(values), copy.begin());
  return copy;
}

bool parse_pfc(Bytes data, std::optional<Pfc>& pfc) {
  const auto raw = structure<ieee_pfc>(data);
  if (raw)
    pfc = Pfc{raw->pfc_cap, raw->pfc_en, raw->delay, array_of<std::uint64_t>(raw->requests),
              array_of<std::uint64_t>(raw->indications)};
  return raw.has_value();
}

bool parse_ets(Bytes data, std::optional<Ets>& ets) {
  const auto raw = structure<ieee_ets>(data);
  if (raw)
    ets = Ets{raw->willing != 0, raw->ets_cap, array_of<std::uint8_t>(raw->tc_tx_bw),
              array_of<std::uint8_t>(raw->tc_tsa), array_of<std::uint8_t>(raw->prio_tc)};
  return raw.has_value();
}

bool parse_buffers(Bytes data, std::optional<Buffers>& buffers) {
  const auto raw = structure<dcbnl_buffer>(data);
  if (raw)
    buffers = Buffers{array_of<std::uint8_t>(raw->prio2buffer), array_of<std::uint32_t>(raw->buffer_size),
                      raw->total_size};
  return raw.has_value();
}

bool parse_apps(Bytes table, std::vector<App>& apps) {
  bool entries_whole = true;
  const bool whole = for_each_attr(table, [&](const Attr& entry) {
    if (entry.type != DCB_ATTR_IEEE_APP && entry.type != kNonStandardApp) return;
    const auto raw = structure<dcb_app>(entry.data);
    if (raw) apps.push_back({raw->selector, raw->priority, raw->protocol});
    entries_whole = entries_whole && raw.has_value();
  });
  return whole && entries_whole;
}

bool parse_nest(Bytes nest, Ieee& ieee) {
  bool members_whole = true;
  const bool whole = for_each_attr(nest, [&](const Attr& attr) {
    bool good = true;
    if (attr.type == DCB_ATTR_IEEE_PFC) good = parse_pfc(attr.data, ieee.pfc);
    if (attr.type == DCB_ATTR_IEEE_ETS) good = parse_ets(attr.data, ieee.ets);
    if (attr.type == DCB_ATTR_DCB_BUFFER) good = parse_buffers(attr.data, ieee.buffers);
    if (attr.type == DCB_ATTR_IEEE_APP_TABLE) good = parse_apps(attr.data, ieee.apps);
    members_whole = members_whole && good;
  });
  return whole && members_whole;
}

}  // namespace

const std::uint16_t kGet = RTM_GETDCB;

std::vector<std::byte> ieee_request(std::string_view netdev) {
  const dcbmsg header{AF_UNSPEC, DCB_CMD_IEEE_GET, 0};
  const Bytes bytes = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> payload(bytes.begin(), bytes.end());
  append_text(payload, DCB_ATTR_IFNAME, netdev);
  return payload;
}

std::string_view tsa_name(std::uint8_t tsa) {
  switch (tsa) {
    case IEEE_8021QAZ_TSA_STRICT:
      return "strict";
    case IEEE_8021QAZ_TSA_CB_SHAPER:
      return "credit_based";
    case IEEE_8021QAZ_TSA_ETS:
      return "ets";
    case IEEE_8021QAZ_TSA_VENDOR:
      return "vendor";
    default:
      return "reserved";
  }
}

std::string_view selector_name(std::uint8_t selector) {
  switch (selector) {
    case IEEE_8021QAZ_APP_SEL_ETHERTYPE:
      return "ethertype";
    case IEEE_8021QAZ_APP_SEL_STREAM:
      return "tcp";
    case IEEE_8021QAZ_APP_SEL_DGRAM:
      return "udp";
    case IEEE_8021QAZ_APP_SEL_ANY:
      return "any";
    case IEEE_8021QAZ_APP_SEL_DSCP:
      return "dscp";
    case kSelectorPcp:
      return "pcp";
    default:
      return {};
  }
}

core::Result<Ieee> parse_ieee(Bytes payload) {
  const auto header = structure<dcbmsg>(payload);
  if (!header || header->cmd != DCB_CMD_IEEE_GET) return core::parse_error();
  Ieee ieee;
  bool nest_whole = true;
  const bool whole = for_each_attr(payload.subspan(sizeof *header), [&](const Attr& attr) {
    if (attr.type == DCB_ATTR_IEEE) nest_whole = parse_nest(attr.data, ieee);
    if (attr.type == DCB_ATTR_DCBX) ieee.dcbx = attr.number<std::uint8_t>();
  });
  if (!whole || !nest_whole) return core::parse_error();
  std::sort(ieee.apps.begin(), ieee.apps.end());
  ieee.apps.erase(std::unique(ieee.apps.begin(), ieee.apps.end()), ieee.apps.end());
  return ieee;
}

}  // namespace rdma_exporter::host::dcb
