// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/page/page_head.h"

#include <fmt/core.h>

#include "app/version.h"
#include "core/text/escape.h"

namespace rdma_exporter::app {
namespace {

std::string recording_note(const std::string& recording) {
  if (recording.empty()) return {};
  return fmt::format(
      "<p class=\"n w\"><strong>Recording: these values are not from this host.</strong> Served from "
      "{}.</p>\n",
      core::html_text(recording));
}

std::string privileges_note(const std::vector<host::MissingPrivilege>& missing) {
  if (missing.empty()) return {};
  std::string items;
  for (const auto& [privilege, feature] : missing)
    items += fmt::format("{}{} ({})", items.empty() ? "" : ", ", core::html_text(privilege),
                         core::html_text(feature));
  return fmt::format(
      "<p class=\"n w\">Privileges are missing, which disables the features in brackets: {}. See "
      "docs/PRIVILEGES.md.</p>\n",
      items);
}

}  // namespace

std::string page_head(const config::Config& config, const std::vector<host::MissingPrivilege>& missing,
                      bool links) {
  const std::string others =
      links ? fmt::format(
                  "<p class=n><a href=\"{}\">Metrics</a><a href=\"/report\">Download report</a><a "
                  "href=\"/-/healthy\">Healthy</a><a href=\"/-/ready\">Ready</a></p>\n",
                  core::html_text(config.web.telemetry_path))
            : std::string();
  return fmt::format(
      "{}{}{}<p class=s>rdma_exporter {} (revision {}). docs/DOCTOR.md explains the checks, docs/METRICS.md "
      "the "
      "metrics.</p>\n",
      recording_note(config.replay), privileges_note(missing), others, kVersion, kRevision);
}

}  // namespace rdma_exporter::app
