// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/optional_counters.h"

#include <cerrno>

#include "collectors/resource/resource_families.h"
#include "core/labels.h"
#include "host/netlink/netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "host/netlink/nldev/statistic.h"

namespace rdma_exporter::collectors {
namespace {

constexpr std::chrono::seconds kInterval{60};

// EINVAL: a kernel before 5.16, or a device without hw_counters; EMSGSIZE: more names than fit into a page.
bool is_absence(const core::Error& error) {
  return core::is_errno(error, EINVAL) || core::is_errno(error, EMSGSIZE);
}

}  // namespace

OptionalCounters::OptionalCounters(const host::Device& device, std::uint32_t port)
    : labels_(core::render_labels({{"device", device.name}, {"port", std::to_string(port)}})),
      request_(host::nldev::device_request(*device.netlink_index, port)),
      schedule_(kInterval, device.port_path(port)) {}

void OptionalCounters::run(host::Netlink& netlink, core::JobRun& run) {
  if (schedule_.take(run.now())) refresh(netlink, run);
  for (const auto& [labels, enabled] : counters_)
    run.samples().add_stable(kOptionalCounters, labels, std::uint64_t{enabled});
}

void OptionalCounters::refresh(host::Netlink& netlink, core::JobRun& run) {
  counters_.clear();
  const auto take = [&](const host::nldev::CounterStatus& status) {
    if (!status.enabled) return;
    std::string labels = labels_;
    core::append_label(labels, "counter", status.name);
    counters_.emplace_back(std::move(labels), *status.enabled);
  };
  const auto answered =
      host::ask<void>(netlink, host::nldev::kStatGetStatus, request_,
                      [&](host::Bytes answer) { return host::nldev::parse_counter_status(answer, take); });
  if (!answered && !is_absence(answered.error())) run.count_read_error(core::reason(answered.error()));
}

}  // namespace rdma_exporter::collectors
