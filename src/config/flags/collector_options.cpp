// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "config/flags/option_rows.h"

namespace rdma_exporter::config {
namespace {

using namespace std::chrono_literals;

// The rows that every collector has.
void add_common_options(OptionRows& rows, const CollectorChoice& choice) {
  const std::string flag = "collector." + std::string(choice.name);
  Option& enabled =
      rows.add(flag, choice.help, boolean(), at_collector<&CollectorConfig::enabled>(), choice.name);
  enabled.key += ".enabled";
  rows.add(flag + ".timeout", "Maximum time that this collector may take for one device.",
           duration(10ms, 10min), at_collector<&CollectorConfig::timeout>(), choice.name);
}

void add_event_options(OptionRows& rows) {
  rows.add("collector.events.async",
           "Listen for asynchronous events of the devices: on, off, or auto (where that does not delay the "
           "removal of a device).",
           one_of<AsyncEventsPolicy>("MODE", {{"auto", AsyncEventsPolicy::automatic},
                                              {"on", AsyncEventsPolicy::on},
                                              {"off", AsyncEventsPolicy::off}}),
           at<&Config::async_events>());
}

void add_ethtool_options(OptionRows& rows) {
  rows.add("collector.ethtool.interval", "Minimum time between two reads of one network interface.",
           duration(0ms, 1h), at<&Config::ethtool, &EthtoolConfig::interval>());
  rows.add("collector.ethtool.raw-include",
           "Driver statistics without a family of their own to add to the lean set: those whose whole name "
           "matches.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_include>());
  rows.add("collector.ethtool.raw-exclude",
           "Driver statistics to leave out: those whose whole name matches; by default the statistics of "
           "single rings.",
           regex(), at<&Config::ethtool, &EthtoolConfig::raw_exclude>());
}

void add_config_check_options(OptionRows& rows) {
  rows.add("collector.config_check.interval",
           "Time between two checks of the configuration. A device whose settings the kernel reports as "
           "changed is checked within a minute.",
           duration(1s, 24h), at<&Config::config_check, &ConfigCheckConfig::interval>());
}

void add_module_options(OptionRows& rows) {
  rows.add("collector.module.interval", "Minimum time between two reads of one module.", duration(10s, 24h),
           at<&Config::module, &ModuleConfig::interval>());
}

void add_burst_options(OptionRows& rows) {
  rows.add("collector.burst.window", "Length of a window.", duration(10ms, 1s),
           at<&Config::burst, &BurstConfig::window>());
  rows.add("collector.burst.devices", "Sample only RDMA devices whose whole name matches.", regex(),
           at<&Config::burst, &BurstConfig::devices>());
  rows.add("collector.burst.pause",
           "Sample PFC pause times in windows: auto (while there is pause), off, or always.",
           one_of<BurstPause>(
               "MODE",
               {{"auto", BurstPause::automatic}, {"off", BurstPause::off}, {"always", BurstPause::always}}),
           at<&Config::burst, &BurstConfig::pause>());
  rows.add("collector.burst.max-cpu-percent",
           "Maximum CPU usage for all devices together in percent of one CPU; windows get longer beyond it.",
           number(1, 100), at<&Config::burst, &BurstConfig::max_cpu_percent>());
}

void add_resource_options(OptionRows& rows) {
  rows.add("collector.resource.detail",
           "Dump tables of RDMA resources: on, off, or auto (on if the kernel is known not to crash on it).",
           one_of<ResourceDetail>("MODE", {{"auto", ResourceDetail::automatic},
                                           {"on", ResourceDetail::on},
                                           {"off", ResourceDetail::off}}),
           at<&Config::resource, &ResourceConfig::detail>());
  rows.add("collector.resource.detail-interval", "Time between two dumps of one device's tables.",
           whole_seconds(1s, 24h), at<&Config::resource, &ResourceConfig::detail_interval>());
  rows.add("collector.resource.detail-timeout", "Maximum time for the dumps of one device.",
           duration(10ms, 10min), at<&Config::resource, &ResourceConfig::detail_timeout>());
  rows.add("collector.resource.max-qps",
           "Maximum number of queue pairs of a device; if there are more, they are not dumped.",
           number(0, 10'000'000), at<&Config::resource, &ResourceConfig::max_qps>());
  rows.add("collector.resource.max-entries",
           "Maximum number of objects in a table; larger tables are not dumped.", number(0, 10'000'000),
           at<&Config::resource, &ResourceConfig::max_entries>());
  rows.add("collector.resource.owners",
           "Attribute RDMA resources to nobody (none), to each process, or to pods, jobs, containers and "
           "units (cgroup).",
           one_of<ResourceOwners>("KIND", {{"none", ResourceOwners::none},
                                           {"process", ResourceOwners::process},
                                           {"cgroup", ResourceOwners::cgroup}}),
           at<&Config::resource, &ResourceConfig::owners>());
  rows.add("collector.resource.owners-top",
           "Maximum number of owners named per device, those with the most memory first.", number(1, 1000),
           at<&Config::resource, &ResourceConfig::owners_top>());
}

}  // namespace

void add_collector_options(OptionRows& rows, const CollectorChoice& choice) {
  add_common_options(rows, choice);
  if (choice.name == "ethtool") add_ethtool_options(rows);
  if (choice.name == "events") add_event_options(rows);
  if (choice.name == "config_check") add_config_check_options(rows);
  if (choice.name == "resource") add_resource_options(rows);
  if (choice.name == "module") add_module_options(rows);
  if (choice.name == "burst") add_burst_options(rows);
}

}  // namespace rdma_exporter::config
