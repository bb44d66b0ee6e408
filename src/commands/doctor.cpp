// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The command doctor. Its exit status is the worst verdict, so those of the program are others here.
#include <sysexits.h>
#include <unistd.h>

#include <array>

#include "app/command.h"
#include "commands/examine.h"
#include "config/flags/value_type.h"
#include "doctor/checks/checks.h"
#include "doctor/render.h"

namespace rdma_exporter::commands {
namespace {

enum class Format : unsigned char { text, json };

constexpr std::array kFlags{
    config::CommandFlag{"--format", "FORMAT", "text (default) or json."},
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
    const bool written =
        app::print(*format == Format::json
                       ? doctor::to_json(examination.facts, findings)
                       : doctor::to_text(examination.facts, findings, ::isatty(STDOUT_FILENO) == 1)) == 0;
    return written ? exit_status(doctor::worst(findings)) : EX_IOERR;
  });
}

}  // namespace

extern const app::Command doctor_command;
const app::Command doctor_command{
    {.name = "doctor",
     .summary = "Check the RDMA set-up of this host, and say what to do.",
     .description =
         "Reads and judges: ports, PCIe, MTU, GIDs, PFC, ECN, counters, limits. Changes nothing.\n"
         "Exit status: 0 ok (also when something is unknown), 1 warning, 2 critical, 64 wrong usage, 74 no "
         "output.\n"
         "With --replay, or --path.sysfs, that host instead of this one. docs/DOCTOR.md explains each check.",
     .flags = kFlags},
    run,
    EX_USAGE};

}  // namespace rdma_exporter::commands
