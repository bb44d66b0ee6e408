// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/optional_counters.h"

#include <cerrno>

#include "collectors/resource/resource_families.h"
#include "core/labels.h"
#include "host/netlink/nldev.h"
#include "host/netlink/nldev_statistic.h"

namespace rdma_exporter::collectors {
namespace {

constexpr std::chrono::seconds kInterval{60};

// EINVAL: a kernel before 5.16, or a device without hw counters; EMSGSIZE: more names than one page holds.
bool is_absence(const core::Error& error) {
  return core::is_errno(error, EINVAL) || core::is_errno(error, EMSGSIZE);
}

}  // namespace

OptionalCounters::OptionalCounters(const host::Device& device, std::uint32_t port)
    : labels_(core::render_labels({{"device", device.name}, {"port", std::to_string(port)}})),
      request_(host::nldev::device_request(*device.netlink_index, port)),
      timer_(kInterval, device.port_path(port)) {}

void OptionalCounters::run(host::Netlink& netlink, core::JobRun& run) {
  if (timer_.due(run.now())) refresh(netlink, run);
  for (const auto& [labels, enabled] : counters_)
    run.samples().add_stable(kOptionalCounters, labels, std::uint64_t{enabled});
}

void OptionalCounters::refresh(host::Netlink& netlink, core::JobRun& run) {
  counters_.clear();
  core::Result<void> parsed;
  const auto answered = netlink.request(host::nldev::kStatGetStatus, 0, request_, [&](host::Bytes answer) {
    parsed = host::nldev::parse_counter_status(answer, [&](const host::nldev::CounterStatus& status) {
      if (!status.enabled) return;
      std::string labels = labels_;
      core::append_label(labels, "counter", status.name);
      counters_.emplace_back(std::move(labels), *status.enabled);
    });
  });
  if (answered && parsed) return;
  const core::Error& error = answered ? parsed.error() : answered.error();
  if (!is_absence(error)) run.count_read_error(core::reason(error));
}

}  // namespace rdma_exporter::collectors
