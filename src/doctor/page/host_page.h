// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"
#include "doctor/report.h"

namespace rdma_exporter::doctor {

/// What surrounds the host on the page.
struct PageFrame {
  unsigned refresh_seconds = 0;  ///< interval at which the browser reloads the page; 0: never
  std::string head;              ///< HTML below the verdict: notes, links
};

/// A page about a host for people: its verdict, and its ports with a sentence for each problem and bars for
/// traffic and pauses; passed checks are collapsed. A single file without scripts, fonts or other external
/// resources; all text is escaped. Below 100 kB with 136 devices: beyond a limit, things are counted instead
/// of shown.
std::string host_page(const Facts& facts, const Findings& findings, std::vector<Owner> owners,
                      const PageFrame& frame);

}  // namespace rdma_exporter::doctor
