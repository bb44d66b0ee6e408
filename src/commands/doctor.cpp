// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The command doctor. Its exit status is the worst verdict, so other failures have statuses of their own.
#include <sysexits.h>
#include <unistd.h>

#include <array>
#include <string>

#include "app/command.h"
#include "commands/examine.h"
#include "config/flags/value_type.h"
#include "doctor/checks/checks.h"
#include "doctor/render.h"

namespace rdma_exporter::commands {
namespace {

enum class Format : unsigned char { text, json };

constexpr std::array kFlags{
    config::CommandFlag{"--format", "FORMAT", "Output format: text (default) or json."},
    config::CommandFlag{"--verbose", "", "Print the evidence for every check, including checks that are ok."},
    kSampleFlag,
};

int exit_status(doctor::Verdict verdict) {
  switch (verdict) {
    case doctor::Verdict::ok:
    case doctor::Verdict::unknown:
      return 0;
    case doctor::Verdict::warning:
      return 1;
    case doctor::Verdict::critical:
      return 2;
  }
  return EX_SOFTWARE;
}

core::Result<int> run(const config::CommandLine& line) {
  const auto format = line.value(
      "--format", config::one_of<Format>("FORMAT", {{"text", Format::text}, {"json", Format::json}}),
      Format::text);
  if (!format) return tl::unexpected(format.error());
  const auto sample = sample_time(line);
  if (!sample) return tl::unexpected(sample.error());
  return examine(line.config, *sample, Owners::no, [&](const Examination& examination) {
    const doctor::Findings findings = doctor::diagnose(examination.facts);
    const bool colour = ::isatty(STDOUT_FILENO) == 1;
    std::string text;
    if (*format == Format::json) {
      text = doctor::to_json(examination.facts, findings);
    } else {
      text = doctor::verdict_text(examination.facts, findings, colour);
      if (line.has("--verbose")) text += "\n" + doctor::to_text(examination.facts, findings, colour);
    }
    const bool written = app::print(text) == 0;
    return written ? exit_status(doctor::worst(findings)) : EX_IOERR;
  });
}

}  // namespace

extern const app::Command doctor_command;
const app::Command doctor_command{
    {.name = "doctor",
     .summary = "Check the RDMA setup of this host and advise what to do.",
     .description = "Checks ports, PCIe, MTU, GIDs, PFC, ECN, counters and limits. Changes nothing.\nExit "
                    "status: 0 ok (even if something is unknown), 1 warning, 2 critical, 64 usage error, 74 "
                    "output error.\nWith --replay or --path.sysfs it checks that host instead of this one. "
                    "docs/DOCTOR.md explains each check.",
     .flags = kFlags},
    run,
    EX_USAGE};

}  // namespace rdma_exporter::commands
