// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdma_exporter::doctor {

/// Ordered by how much attention it needs; unknown needs less than warning.
enum class Verdict : std::uint8_t { ok, unknown, warning, critical };

/// "ok", "unknown", "warning", "critical".
std::string_view to_string(Verdict verdict);

enum class CheckKind : std::uint8_t {
  configuration,  ///< settings, which rdma_config_check repeats
  counters,       ///< what has been counted
  caller,         ///< of the calling process and its user: no metric of a daemon
};

/// One row of the table of checks. This is the only description of a check, and the source of docs/DOCTOR.md.
struct Check {
  std::string_view id;  ///< as in the label `check`
  CheckKind kind;
  std::string_view title;   ///< the correct state, shown if it is ok
  std::string_view means;   ///< what is wrong otherwise, and its consequences
  std::string_view advice;  ///< how to correct it
  std::string_view source;  ///< where the kernel reports it
  /// What is wrong, in words; {} stands for the evidence. Empty if the counters have words of their own, or
  /// if the evidence is a sentence itself.
  std::string_view problem = {};
};

/// All checks, in the order of the documentation.
std::span<const Check* const> all_checks();

/// What a finding is about. Members are empty if the finding concerns more than one.
struct Subject {
  std::string device;
  std::string port;
  std::string netdev;
};

struct Finding {
  const Check* check;
  Subject subject;
  Verdict verdict;
  std::string evidence;       ///< one sentence: what was read
  std::string sentence = {};  ///< what is wrong, in words; empty: Check::problem has it
};
using Findings = std::vector<Finding>;

/// The worst verdict; ok if there is no finding.
Verdict worst(const Findings& findings);

/// The table of checks in docs/DOCTOR.md.
std::string checks_markdown();

}  // namespace rdma_exporter::doctor
