// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/netlink/nldev/resource.h"

#include <array>

#include "host/netlink/nldev/wire.h"

namespace rdma_exporter::host::nldev {
namespace {

// Attribute numbers never change (the comment on enum rdma_nldev_attr); headers of Debian 12 end before this
// one.
constexpr std::uint16_t kSummaryEntryMax = 118;  // RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_MAX

// What one table is called in messages.
struct Layout {
  std::string_view name;
  std::uint16_t command;
  std::uint16_t table;
  std::uint16_t entry;
  std::uint16_t id;
};

constexpr std::array<Layout, kResourceTables> kLayouts{{
    {"qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
     RDMA_NLDEV_ATTR_RES_LQPN},
    {"mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
     RDMA_NLDEV_ATTR_RES_MRN},
    {"cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
     RDMA_NLDEV_ATTR_RES_CQN},
    {"cm_id", RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
     RDMA_NLDEV_ATTR_RES_CM_IDN},
    {"srq", RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
     RDMA_NLDEV_ATTR_RES_SRQN},
    {"ctx", RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
     RDMA_NLDEV_ATTR_RES_CTXN},
}};

const Layout& layout(ResourceTable table) { return kLayouts.at(static_cast<std::size_t>(table)); }

// The mlx5 driver adds {DRIVER {DRIVER_ENTRY {DRIVER_STRING "odp" ...}}} to regions with on-demand paging
// (hw/mlx5/restrack.c fill_res_mr_entry).
bool says_odp(Bytes driver) {
  bool odp = false;
  for_each_attr(driver, [&](const Attr& entry) {
    if (entry.type != RDMA_NLDEV_ATTR_DRIVER_ENTRY) return;
    for_each_attr(entry.data, [&](const Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_DRIVER_STRING && attr.text() == "odp") odp = true;
    });
  });
  return odp;
}

void take(const Attr& attr, Resource& resource) {
  switch (attr.type) {
    case RDMA_NLDEV_ATTR_PORT_INDEX:
      resource.port = attr.number<std::uint32_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_TYPE:
      resource.type = attr.number<std::uint8_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_STATE:
      resource.state = attr.number<std::uint8_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_PS:
      resource.port_space = attr.number<std::uint32_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_MRLEN:
      resource.length = attr.number<std::uint64_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_CQE:
      resource.entries = attr.number<std::uint32_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_USECNT:
      resource.users = attr.number<std::uint64_t>();
      break;
    case RDMA_NLDEV_ATTR_RES_KERN_NAME:
      resource.kernel_name = attr.text();
      break;
    case RDMA_NLDEV_ATTR_RES_PID:
      resource.pid = attr.number<std::uint32_t>();
      break;
    case RDMA_NLDEV_ATTR_DRIVER:
      resource.on_demand = says_odp(attr.data);
      break;
    default:
      break;
  }
}

template <std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, std::uint32_t number) {
  const std::string_view name = number < N ? names.at(number) : std::string_view();
  return name.empty() ? "other" : name;
}

}  // namespace

const std::uint16_t kResourceSummary = type_of(RDMA_NLDEV_CMD_RES_GET);

std::uint16_t resource_command(ResourceTable table) { return type_of(layout(table).command); }

std::string_view to_string(ResourceTable table) { return layout(table).name; }

core::Result<void> parse_resource_summary(Bytes payload, const OnResourceCount& on_count) {
  const auto on_entry = [&](Bytes entry) -> core::Result<void> {
    ResourceCount count;
    std::optional<std::uint64_t> current;
    const bool whole = for_each_attr(entry, [&](const Attr& attr) {
      if (attr.type == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME) count.type = attr.text();
      if (attr.type == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR) current = attr.number<std::uint64_t>();
      if (attr.type == kSummaryEntryMax) count.max = attr.number<std::uint64_t>();
    });
    if (!whole || count.type.empty() || !current) return core::parse_error();
    count.current = *current;
    on_count(count);
    return {};
  };
  return for_each_entry(payload, RDMA_NLDEV_ATTR_RES_SUMMARY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, on_entry);
}

core::Result<void> parse_resources(Bytes payload, ResourceTable table, const OnResource& on_resource) {
  const Layout& attrs = layout(table);
  const auto on_entry = [&](Bytes entry) -> core::Result<void> {
    if (entry.empty() && table == ResourceTable::ctx) return {};
    Resource resource;
    std::optional<std::uint32_t> id;
    const bool whole = for_each_attr(entry, [&](const Attr& attr) {
      if (attr.type == attrs.id) {
        id = attr.number<std::uint32_t>();
      } else {
        take(attr, resource);
      }
    });
    if (!whole || !id) return core::parse_error();
    resource.id = *id;
    on_resource(resource);
    return {};
  };
  return for_each_entry(payload, attrs.table, attrs.entry, on_entry);
}

// include/rdma/ib_verbs.h enum ib_qp_type.
std::string_view qp_type_name(std::uint32_t type) {
  constexpr std::array<std::string_view, 11> kNames{
      "SMI", "GSI", "RC", "UC", "UD", "RAW_IPV6", "RAW_ETHERTYPE", "", "RAW_PACKET", "XRC_INI", "XRC_TGT"};
  constexpr std::uint32_t kDriver = 0xFF;
  return type == kDriver ? "DRIVER" : name_of(kNames, type);
}

// include/rdma/ib_verbs.h enum ib_qp_state.
std::string_view qp_state_name(std::uint32_t state) {
  constexpr std::array<std::string_view, 7> kNames{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  return name_of(kNames, state);
}

// drivers/infiniband/core/cma_priv.h enum rdma_cm_state.
std::string_view cm_id_state_name(std::uint32_t state) {
  constexpr std::array<std::string_view, 11> kNames{
      "IDLE",       "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY",    "ROUTE_RESOLVED", "CONNECT",
      "DISCONNECT", "ADDR_BOUND", "LISTEN",        "DEVICE_REMOVAL", "DESTROYING"};
  return name_of(kNames, state);
}

// include/uapi/rdma/rdma_user_cm.h enum rdma_ucm_port_space.
std::string_view port_space_name(std::uint32_t port_space) {
  switch (port_space) {
    case 0x0002:
      return "IPOIB";
    case 0x013F:
      return "IB";
    case 0x0106:
      return "TCP";
    case 0x0111:
      return "UDP";
    default:
      return "other";
  }
}

// include/rdma/ib_verbs.h enum ib_srq_type.
std::string_view srq_type_name(std::uint32_t type) {
  constexpr std::array<std::string_view, 3> kNames{"BASIC", "XRC", "TM"};
  return name_of(kNames, type);
}

}  // namespace rdma_exporter::host::nldev
