// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::doctor {

/// Ordered by how much attention it needs; unknown needs less than a warning.
enum class Verdict : std::uint8_t { ok, unknown, warning, critical };

/// "ok", "unknown", "warning", "critical".
std::string_view to_string(Verdict verdict);

enum class CheckKind : std::uint8_t {
  configuration,  ///< how things are set up: what rdma_config_check repeats
  counters,       ///< what has been counted
  caller,         ///< of the process that asks and its user: nothing for a metric of a daemon
};

/// One row of the table of checks: the only place where a check is described; source of docs/DOCTOR.md.
struct Check {
  std::string_view id;  ///< as in the label `check`
  CheckKind kind;
  std::string_view title;   ///< what is as it should be when it is ok
  std::string_view means;   ///< when it is not, and what follows
  std::string_view advice;  ///< what to do then
  std::string_view source;  ///< where the kernel says so
};

/// All of them, in the order of the documentation.
std::span<const Check* const> all_checks();

/// What a finding is about. Empty where it is about more than one.
struct Subject {
  std::string device;
  std::string port;
  std::string netdev;
};

struct Finding {
  const Check* check;
  Subject subject;
  Verdict verdict;
  std::string evidence;  ///< one sentence: what was read
};
using Findings = std::vector<Finding>;

/// The worst of them; ok when there is none.
Verdict worst(const Findings& findings);

/// docs/DOCTOR.md's table of checks.
std::string checks_markdown();

}  // namespace rdma_exporter::doctor
