// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/table.h"

namespace rdma_exporter::fleet {

enum class Severity : std::uint8_t { info, warning, critical };

/// "info", "warning", "critical".
std::string_view to_string(Severity severity);

/// The component to blame. Fields are empty if the problem concerns more than one.
struct Component {
  std::string kind;  ///< "nic", "host", "leaf", "uplinks", "unit", "rail", "fleet"
  std::string unit{};
  std::string instance{};
  std::string device{};
  std::string port{};
  std::string netdev{};  ///< where it is about the interface
};

struct Blast {
  std::vector<std::string> jobs{};  ///< owners of queue pairs on the hosts of the component
  std::size_t hosts = 0;
  std::size_t nics = 0;
};

struct Evidence {
  std::string text;
  std::string table;  ///< name of its query
  double value = 0;
};

struct Problem {
  std::string kind;  ///< one of docs/FLEET.md
  Severity severity = Severity::info;
  double confidence = 0;  ///< 0 to 1
  Component component;
  std::string title;                   ///< a sentence without its full stop
  std::vector<std::string> members{};  ///< the hosts or NICs, where they are several
  std::string detail{};                ///< part of the id, if a component may have two of a kind
  Blast blast{};
  std::vector<Evidence> evidence{};
  std::vector<std::string> excluded{};  ///< what was examined and is not the cause
  std::string next{};                   ///< command or place to continue

  /// Stable: the same problem has the same id in the next run, "nic_unreachable:gpu-17:mlx5_3".
  std::string id() const;
};
using Problems = std::vector<Problem>;

/// Something that was checked, and whether the server had the data for it.
struct Check {
  std::string name;
  std::string state;  ///< "done", "no data", "incomplete"
  std::string why{};  ///< why it is not "done"
};

/// A host that paused others or was paused; for the pictures.
struct PauseEdge {
  std::string root;  ///< id of the problem
  std::string unit;
  std::string device;
  std::string priority;
  std::size_t nics = 0;
  double share = 0;  ///< average share of time that they were paused
};

/// A host, for the pictures.
struct HostCell {
  std::string unit;
  std::string instance;
};

struct Analysis {
  Problems problems;                     ///< worst first
  std::vector<std::string> unexplained;  ///< failing paths that no component explains
  std::vector<Check> checks;
  std::vector<QueryReport> queries;
  std::vector<std::string> warnings;  ///< of the server
  bool partial = false;               ///< something is missing, so "nothing found" would claim too much
  std::size_t hosts_expected = 0;
  std::size_t hosts_seen = 0;
  std::size_t nics = 0;
  std::size_t edges = 0;
  bool units_known = false;
  bool rules_used = false;
  std::vector<std::string> rails;  ///< names of devices
  std::vector<HostCell> hosts;
  std::vector<PauseEdge> pauses;
};

/// The worst severity of the problems; info if there are none.
Severity worst(const Problems& problems);

/// Exit status of the command: 0, 1 for a warning or an incomplete analysis, 2 for critical.
int exit_status(const Analysis& analysis);

/// "gpu-17" for "gpu-17:9400", "2001:db8::1" for "[2001:db8::1]:9400".
std::string host_part(std::string_view instance);

}  // namespace rdma_exporter::fleet
