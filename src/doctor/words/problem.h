// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <array>
#include <string>
#include <vector>

#include "doctor/check.h"

// Findings as sentences, one per problem.
namespace rdma_exporter::doctor {

/// A warning or critical finding, or several that say the same about different places.
struct Problem {
  const Check* check;
  Verdict verdict;
  std::string sentence;                  ///< printable, without the place and the final period
  std::vector<const Finding*> findings;  ///< at least one; they outlive the problem
};

/// Worst first, in the order of the findings.
std::vector<Problem> problems_of(const Findings& findings);

/// "mlx5_0/1 cx0"; "host" for a finding about more than one device.
std::string place_of(const Subject& subject);
/// The places of a problem, at most `at_most` of them by name.
std::string places_of(const Problem& problem, std::size_t at_most = 4);

/// Number of findings with each verdict.
struct Tally {
  std::size_t ok = 0;
  std::size_t unknown = 0;
  std::size_t warning = 0;
  std::size_t critical = 0;
};
Tally tally(const Findings& findings);
/// "2 critical problems and 14 warnings"; "nothing is wrong".
std::string verdict_in_words(const Tally& counts);

/// "port_state, pfc and 3 more": the checks with this verdict.
std::string checks_with(const Findings& findings, Verdict verdict, std::size_t at_most);

}  // namespace rdma_exporter::doctor
