// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "doctor/check.h"
#include "doctor/host_facts.h"

namespace rdma_exporter::doctor {

/// The output of the command doctor: the verdict, one sentence for each problem with advice, and one line
/// each for unknown and passed checks. `colour`: use the escape sequences of a terminal.
std::string verdict_text(const Facts& facts, const Findings& findings, bool colour);

}  // namespace rdma_exporter::doctor
