// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/exposition/format.h"
#include "web/metrics_source.h"

namespace rdma_exporter::web {

inline MetricsSource::Page make_page(std::string body) {
  return std::make_shared<const core::Page>(core::Page{std::move(body)});
}

/// An exporter that answers as it is told to: at once, later, or by throwing.
class FakeSource final : public MetricsSource {
 public:
  void metrics(const MetricsRequest& request, std::chrono::steady_clock::time_point deadline,
               Answer answer) override {
    requests.push_back(request);
    deadlines.push_back(deadline);
    if (throws) throw std::runtime_error("no collector");
    if (hold) return held.push_back(std::move(answer));
    answer(page);
  }
  std::size_t missing_room() const override { return missing; }
  bool ready() const override { return is_ready; }
  void reload(ReloadAnswer answer) override {
    ++reloads;
    answer(reload_result);
  }
  void host_page(HostPage kind, HostPageAnswer answer) override {
    host_pages.push_back(kind);
    answer(host_page_body);
  }

  Page page = make_page("rdma_devices 0\n");
  Page host_page_body = make_page("<html>rdma_exporter</html>\n");
  std::vector<HostPage> host_pages;
  std::size_t missing = 0;
  bool is_ready = true;
  bool hold = false;
  bool throws = false;
  core::Result<void> reload_result;
  int reloads = 0;
  std::vector<Answer> held;
  std::vector<MetricsRequest> requests;
  std::vector<std::chrono::steady_clock::time_point> deadlines;
};

}  // namespace rdma_exporter::web
