// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector port_counters: every file of ports/N/counters, the IBTA PMA counters
// (drivers/infiniband/core/sysfs.c).
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.h"
#include "collectors/counters/counter_set.h"
#include "collectors/counters/sysfs_counters.h"
#include "collectors/counters/tables/pma_table.h"
#include "collectors/counters/tables/port_families.h"
#include "core/labels.h"
#include "facts/fact_cache.h"

namespace rdma_exporter::collectors {
namespace {

class PortCountersJob : public core::Job {
 public:
  PortCountersJob(const Context& context, const DeviceHandle& handle)
      : Job("port_counters", handle.device->name), facts_(context.facts->of(context.host, handle.device)) {
    const host::Device& device = *handle.device;
    const std::span<const CounterRow> rows = pma_rows(device.driver);
    CounterRules rules{rows, &kPortRaw};
    rules.raw_source = R"(source="counters")";
    rules.saturated = &kCounterSaturated;
    rules.saturated_only = !context.metrics.full();
    rules.selection = &context.metrics;
    if (device.protocol == "roce" && !context.metrics.full()) rules.left_out = counts_infiniband_link;
    rules.raw = context.raw;
    for (const std::uint32_t port : device.ports) {
      std::string labels = core::render_labels({{"device", device.name}, {"port", std::to_string(port)}});
      ports_.emplace_back(context.host, device.port_path(port) + "/counters", facts_->port(port), rules,
                          std::move(labels));
    }
  }

  void run(core::JobRun& run) override {
    for (Port& port : ports_) {
      port.files.read(port.counters, run, port.facts.is_ethernet());
      port.counters.emit(run);
    }
  }

 private:
  struct Port {
    Port(host::Host& host, const std::string& path, const facts::PortCache& known, const CounterRules& rules,
         std::string labels)
        : facts(known), files(host, path, is_infiniband_link_counter), counters(rules, std::move(labels)) {}
    const facts::PortCache& facts;
    SysfsCounters files;
    CounterSet counters;
  };
  const std::shared_ptr<facts::DeviceCache> facts_;
  std::list<Port> ports_;
};

class PortCounters : public Collector {
 public:
  explicit PortCounters(const Context& context) : context_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    return std::make_shared<PortCountersJob>(context_, handle);
  }

 private:
  const Context& context_;
};

std::vector<CounterTable> counter_tables() { return {{"ports/N/counters", "any", pma_rows()}}; }

}  // namespace

extern const CollectorSpec port_counters_spec;
const CollectorSpec port_counters_spec{
    "port_counters",
    "Traffic and errors of each port: counters of the InfiniBand specification",
    "`ports/N/counters`",
    true,
    pma_families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<PortCounters>(context);
    },
    counter_tables};

}  // namespace rdma_exporter::collectors
