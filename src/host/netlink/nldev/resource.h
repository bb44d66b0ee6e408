// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "core/result.h"
#include "host/netlink/netlink.h"

// Resource tracking over RDMA netlink (drivers/infiniband/core/nldev.c, restrack.c): how many objects of each
// kind a device has, and the tables of them. Pure functions from bytes; requests are made by
// device_request().
namespace rdma_exporter::host::nldev {

extern const std::uint16_t kResourceSummary;  ///< RES_GET, for one device

/// One kind of objects in the answer to RES_GET.
struct ResourceCount {
  std::string_view
      type;  ///< "pd", "cq", "qp", "cm_id", "mr"; since Linux 5.14 also "ctx", "srq"; in the payload
  std::uint64_t current = 0;
  std::optional<std::uint64_t> max;  ///< of the device; only kernels after 7.2 say it
};
using OnResourceCount = std::function<void(const ResourceCount&)>;
core::Result<void> parse_resource_summary(Bytes payload, const OnResourceCount& on_count);

/// A table of objects, one dump each.
enum class ResourceTable : std::uint8_t { qp, mr, cq, cm_id, srq, ctx };
inline constexpr std::size_t kResourceTables = 6;

/// nlmsg_type of the dump.
std::uint16_t resource_command(ResourceTable table);
/// Name of the type in the summary.
std::string_view to_string(ResourceTable table);

/// One object. What the kernel leaves out for it is nullopt or empty.
struct Resource {
  std::uint32_t id = 0;  ///< QPN, MRN, CQN, CM_IDN, SRQN or CTXN; QPNs of SMI and GSI repeat per port
  std::optional<std::uint32_t> port;        ///< QP: from INIT on; CM ID: once bound to a port
  std::optional<std::uint8_t> type;         ///< QP, SRQ
  std::optional<std::uint8_t> state;        ///< QP, CM ID
  std::optional<std::uint32_t> port_space;  ///< CM ID
  std::optional<std::uint64_t> length;      ///< MR: bytes
  std::optional<std::uint32_t> entries;     ///< CQ: completions it can hold
  std::optional<std::uint64_t> users;       ///< CQ: QPs and SRQs that use it
  bool on_demand = false;                   ///< MR with on-demand paging (mlx5 says so)
  std::string_view kernel_name;             ///< module that owns a kernel object; in the payload
  std::optional<std::uint32_t> pid;         ///< creator of a user object, if it lives and we may see it

  /// Kernel objects always have a name (nldev.c fill_res_name_pid).
  bool of_kernel() const { return !kernel_name.empty(); }
};
using OnResource = std::function<void(const Resource&)>;
/// One message of a dump of `table`. A malformed entry ends the walk with a parse error; entries of contexts
/// of the kernel, which are empty, are left out.
core::Result<void> parse_resources(Bytes payload, ResourceTable table, const OnResource& on_resource);

/// "RC", "UD", ... as the tool `rdma` prints them; "other" for a number that is not known here.
std::string_view qp_type_name(std::uint32_t type);
/// "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"; "other".
std::string_view qp_state_name(std::uint32_t state);
/// "IDLE" ... "DESTROYING"; "other".
std::string_view cm_id_state_name(std::uint32_t state);
/// "IPOIB", "IB", "TCP", "UDP"; "other".
std::string_view port_space_name(std::uint32_t port_space);
/// "BASIC", "XRC", "TM"; "other".
std::string_view srq_type_name(std::uint32_t type);

}  // namespace rdma_exporter::host::nldev
