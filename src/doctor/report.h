// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/check.h"
#include "doctor/host_facts.h"

// A report about a host for a ticket: its devices, counters, owners of resources, and problems.
namespace rdma_exporter::doctor {

/// An owner of RDMA resources of a device.
struct Owner {
  std::string device;
  std::string kind;  ///< "pod", "slurm_job", "process", ...
  std::string name;
  std::string container;
  std::uint64_t qps = 0;
  std::uint64_t memory_bytes = 0;  ///< in memory regions
};

struct ReportTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< printable text
  std::string when_empty;
};

struct Report {
  std::string title;
  std::string summary;
  std::vector<ReportTable> tables;
};

Report make_report(const Facts& facts, const Findings& findings, std::vector<Owner> owners);

/// The report as text for terminals and mail; host_page() is the HTML.
std::string report_text(const Report& report);

}  // namespace rdma_exporter::doctor
