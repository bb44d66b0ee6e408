// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/landing_page.h"

#include <fmt/core.h>

#include "app/version.h"
#include "core/exposition/html.h"

namespace rdma_exporter::app {
namespace {

std::string device_list(std::span<const std::string> devices) {
  if (devices.empty()) return "<p>No RDMA devices found.</p>\n";
  std::string items;
  for (const std::string& device : devices) items += "<li>" + core::html_text(device) + "</li>\n";
  return fmt::format("<p>RDMA devices found: {}</p>\n<ul>\n{}</ul>\n", devices.size(), items);
}

}  // namespace

std::string landing_page(const std::string& telemetry_path, std::span<const std::string> devices,
                         const std::string& recording) {
  const std::string note =
      recording.empty()
          ? ""
          : fmt::format(
                "<p><strong>Recording: these are not values of this host.</strong> Served from {}.</p>\n",
                core::html_text(recording));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta "
      "charset=\"utf-8\"><title>rdma_exporter</title></head>\n"
      "<body>\n<h1>rdma_exporter</h1>\n<p>Prometheus exporter for RDMA devices, version {} (revision "
      "{})</p>\n{}"
      "<ul>\n<li><a href=\"{}\">Metrics</a></li>\n<li><a href=\"/-/healthy\">Healthy</a></li>\n"
      "<li><a href=\"/-/ready\">Ready</a></li>\n</ul>\n{}</body>\n</html>\n",
      kVersion, kRevision, note, core::html_text(telemetry_path), device_list(devices));
}

}  // namespace rdma_exporter::app
