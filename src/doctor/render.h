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

/// The findings by device, worst first, with evidence and advice. `colour`: use the escape sequences of a
/// terminal.
std::string to_text(const Facts& facts, const Findings& findings, bool colour);

/// JSON for programs; docs/DOCTOR.md describes it.
std::string to_json(const Facts& facts, const Findings& findings);

/// `text` in the colour of a verdict, if `colour` is set.
std::string coloured(std::string_view text, Verdict verdict, bool colour);

/// Makes `text` safe for a terminal or document: control characters and bytes that are not UTF-8 become \xHH.
/// Users choose the names of processes and interfaces.
std::string printable(std::string_view text);

}  // namespace rdma_exporter::doctor
