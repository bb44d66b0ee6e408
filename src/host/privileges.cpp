// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "host/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "host/fs/fd.h"
#include "host/topology/network_namespace.h"

namespace rdma_exporter::host {
namespace {

// Inode number of the first PID namespace, the same on every kernel (include/linux/proc_ns.h,
// PROC_PID_INIT_INO).
constexpr std::string_view kFirstPidNamespace = "pid:[4026531836]";

constexpr std::array kVerbs{MissingPrivilege{"verbs_device", "mtu"},
                            MissingPrivilege{"verbs_device", "async_events"},
                            MissingPrivilege{"verbs_device", "resource_limits"}};
constexpr std::array kNetlink{MissingPrivilege{"netlink", "resources"},
                              MissingPrivilege{"netlink", "ethtool_standard"},
                              MissingPrivilege{"netlink", "dcb"}, MissingPrivilege{"netlink", "hot_plug"}};
constexpr std::array kNetwork{MissingPrivilege{"network_namespace", "port_counters"},
                              MissingPrivilege{"network_namespace", "network_interfaces"}};
constexpr std::array kPid{MissingPrivilege{"pid_namespace", "owners"}};
constexpr std::array kProcesses{MissingPrivilege{"processes", "owners"}};
constexpr std::array kNetAdmin{MissingPrivilege{"net_admin", "module"}};
constexpr std::array kPacket{MissingPrivilege{"net_raw", "neighbor"}};

// In the mode exclusive (ib_core's netns_mode=N) the devices that are seen here are here as a whole.
bool devices_are_shared(HostFs& sysfs) {
  return sysfs.read("module/ib_core/parameters/netns_mode").value_or("Y") == "Y";
}

bool can_open_all_verbs(const PrivilegeSources& sources) {
  const auto names = sources.sysfs.list("class/infiniband_verbs").value_or(std::vector<std::string>());
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.rfind("uverbs", 0) != 0 || sources.can_open_verbs(name);
  });
}

// Mounted with hidepid=, /proc shows nobody the first process but its owner.
bool sees_processes(HostFs& procfs) { return procfs.read("1/comm").has_value(); }

bool in_first_pid_namespace(HostFs& procfs) {
  const auto space = procfs.read_link("self/ns/pid");
  return !space || *space == kFirstPidNamespace;
}

}  // namespace

bool can_open_verbs(const std::string& name) {
  const std::string path = "/dev/infiniband/" + name;
  // access() knows modes and owners; whether a device cgroup allows it, only open() tells.
  return ::access(path.c_str(), R_OK | W_OK) == 0 && Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).valid();
}

bool can_open_netlink() { return Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)).valid(); }

bool has_net_admin() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[CAP_TO_INDEX(CAP_NET_ADMIN)].effective & CAP_TO_MASK(CAP_NET_ADMIN)) != 0;
}

// Protocol 0: it receives nothing.
bool can_open_packet() { return Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)).valid(); }

std::vector<MissingPrivilege> missing_privileges(const PrivilegeSources& sources) {
  const auto devices = sources.sysfs.list("class/infiniband");
  if (!devices || devices->empty()) return {};
  std::vector<MissingPrivilege> missing;
  const auto lacks = [&](const auto& features) {
    missing.insert(missing.end(), features.begin(), features.end());
  };
  if (!can_open_all_verbs(sources)) lacks(kVerbs);
  if (!sources.can_open_netlink()) lacks(kNetlink);
  if (!in_first_network_namespace(sources.procfs) && devices_are_shared(sources.sysfs)) lacks(kNetwork);
  if (sources.has_net_admin && !sources.has_net_admin()) lacks(kNetAdmin);
  if (sources.can_open_packet && !sources.can_open_packet()) lacks(kPacket);
  if (!sources.owners_wanted) return missing;
  if (!in_first_pid_namespace(sources.procfs)) {
    lacks(kPid);
  } else if (!sees_processes(sources.procfs)) {
    lacks(kProcesses);
  }
  return missing;
}

}  // namespace rdma_exporter::host
