// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>

#include "doctor/check.h"
#include "doctor/gather/facts.h"

namespace rdma_exporter::doctor {

/// For people: by device, worst first, with evidence and advice. `colour`: with the escape sequences of a
/// terminal.
std::string to_text(const Facts& facts, const Findings& findings, bool colour);

/// For programs; described in docs/DOCTOR.md.
std::string to_json(const Facts& facts, const Findings& findings);

/// `text` as it may stand in a line on a terminal or in a document: bytes that are no UTF-8, and control
/// characters, as \xHH. Names of processes and interfaces are made by users.
std::string printable(std::string_view text);

}  // namespace rdma_exporter::doctor
