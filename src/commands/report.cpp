// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// The command report: one page about this host, for a ticket.
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "app/command.h"
#include "commands/examine.h"
#include "config/flags/value_type.h"
#include "doctor/checks/checks.h"
#include "doctor/page/host_page.h"
#include "doctor/report.h"

namespace rdma_exporter::commands {
namespace {

enum class Format : unsigned char { text, html };

constexpr std::array kFlags{
    config::CommandFlag{"--format", "FORMAT", "Output format: text (default) or html."},
    kSampleFlag,
};

// An owner of several kinds of objects has several samples.
std::vector<doctor::Owner> owners_of(const std::vector<Reading>& readings) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, doctor::Owner> owners;
  for (const Reading& reading : readings) {
    const bool qps = reading.metric->name == "rdma_resource_owner_qps";
    const bool bytes = reading.metric->name == "rdma_resource_owner_mr_bytes";
    if (!qps && !bytes) continue;
    const auto label = [&](std::string_view name) { return label_value(reading.labels, name); };
    doctor::Owner& owner = owners[{label("device"), label("owner_kind"), label("owner"), label("container")}];
    (qps ? owner.qps : owner.memory_bytes) = static_cast<std::uint64_t>(reading.value);
  }
  std::vector<doctor::Owner> list;
  for (auto& [key, owner] : owners) {
    std::tie(owner.device, owner.kind, owner.name, owner.container) = key;
    list.push_back(std::move(owner));
  }
  return list;
}

core::Result<int> run(const config::CommandLine& line) {
  const auto format = line.value(
      "--format", config::one_of<Format>("FORMAT", {{"text", Format::text}, {"html", Format::html}}),
      Format::text);
  if (!format) return tl::unexpected(format.error());
  const auto sample = sample_time(line);
  if (!sample) return tl::unexpected(sample.error());
  return examine(line.config, *sample, Owners::yes, [&](const Examination& examination) {
    const doctor::Findings findings = doctor::diagnose(examination.facts);
    auto owners = owners_of(examination.readings);
    if (*format == Format::html)
      return app::print(doctor::host_page(examination.facts, findings, std::move(owners), {}));
    return app::print(
        doctor::report_text(doctor::make_report(examination.facts, findings, std::move(owners))));
  });
}

}  // namespace

extern const app::Command report_command;
const app::Command report_command{
    {.name = "report",
     .summary = "Print a report on the RDMA setup of this host, for a ticket.",
     .description = "Shows checks, devices, ports, counters that are not 0, and the owners with the most "
                    "registered memory. Needs no\nserver; the HTML page loads nothing from elsewhere. With "
                    "--replay or --path.sysfs it reports on that host instead of\nthis one.",
     .flags = kFlags},
    run};

}  // namespace rdma_exporter::commands
