// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/nldev/rewrite.h"

#include <algorithm>
#include <array>
#include <optional>

#include "host/netlink/nldev/wire.h"

namespace rdma_exporter::host::nldev {
namespace {

// Takes an attribute's data; nullopt: it is left out.
using Change = std::function<std::optional<std::vector<std::byte>>(std::uint16_t type, Bytes data)>;

// The tables of resources; old kernels do not mark them as nests.
constexpr std::array<std::uint16_t, 14> kNests{
    RDMA_NLDEV_ATTR_RES_QP,          RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_CM_ID,
    RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, RDMA_NLDEV_ATTR_RES_CQ,       RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
    RDMA_NLDEV_ATTR_RES_MR,          RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_PD,
    RDMA_NLDEV_ATTR_RES_PD_ENTRY,    RDMA_NLDEV_ATTR_RES_CTX,      RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
    RDMA_NLDEV_ATTR_RES_SRQ,         RDMA_NLDEV_ATTR_RES_SRQ_ENTRY};

bool contains(std::span<const std::uint16_t> types, std::uint16_t type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::vector<std::byte> rewrite(Bytes payload, const Change& change) {
  std::vector<std::byte> out;
  for_each_attr(payload, [&](const Attr& attr) {
    if (contains(kNests, attr.type))
      return append_attr(out, attr.type | NLA_F_NESTED, rewrite(attr.data, change));
    if (const auto data = change(attr.type, attr.data)) append_attr(out, attr.type, *data);
  });
  return out;
}

bool is_secret(std::uint16_t type) {
  constexpr std::array<std::uint16_t, 6> kSecret{
      RDMA_NLDEV_ATTR_RES_RKEY,           RDMA_NLDEV_ATTR_RES_LKEY,
      RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY,
      RDMA_NLDEV_ATTR_RES_IOVA,           RDMA_NLDEV_ATTR_RES_RAW};
  return contains(kSecret, type);
}

std::vector<std::byte> copy(Bytes data) { return {data.begin(), data.end()}; }

// What stays of a driver's own attributes: cxgb4 puts keys of regions there.
std::vector<std::byte> paging_mark(Bytes driver) {
  std::vector<std::byte> out;
  for_each_attr(driver, [&](const Attr& entry) {
    if (entry.type != RDMA_NLDEV_ATTR_DRIVER_ENTRY) return;
    for_each_attr(entry.data, [&](const Attr& attr) {
      if (attr.type != RDMA_NLDEV_ATTR_DRIVER_STRING || attr.text() != "odp" || !out.empty()) return;
      std::vector<std::byte> inner;
      append_text(inner, RDMA_NLDEV_ATTR_DRIVER_STRING, "odp");
      append_attr(out, RDMA_NLDEV_ATTR_DRIVER_ENTRY | NLA_F_NESTED, inner);
    });
  });
  return out;
}

}  // namespace

std::vector<std::byte> without_secrets(Bytes payload) {
  return rewrite(payload, [](std::uint16_t type, Bytes data) -> std::optional<std::vector<std::byte>> {
    if (is_secret(type)) return std::nullopt;
    if (type != RDMA_NLDEV_ATTR_DRIVER) return copy(data);
    auto mark = paging_mark(data);
    return mark.empty() ? std::nullopt : std::optional(std::move(mark));
  });
}

std::vector<std::byte> with_identities(Bytes payload, const Identities& identities) {
  return rewrite(payload, [&](std::uint16_t type, Bytes data) -> std::optional<std::vector<std::byte>> {
    std::vector<std::byte> changed = copy(data);
    const std::span all(changed);
    const bool is_guid = type == RDMA_NLDEV_ATTR_NODE_GUID || type == RDMA_NLDEV_ATTR_SYS_IMAGE_GUID;
    if (is_guid && all.size() == 8) identities.guid(all.first<8>());
    if (type == RDMA_NLDEV_ATTR_SUBNET_PREFIX && all.size() == 8) identities.subnet_prefix(all.first<8>());
    if (type == RDMA_NLDEV_ATTR_RES_SRC_ADDR || type == RDMA_NLDEV_ATTR_RES_DST_ADDR) identities.address(all);
    return changed;
  });
}

}  // namespace rdma_exporter::host::nldev
