// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/resource_pass.h"

#include <utility>

#include "collectors/counters/carry_over.h"
#include "collectors/resource/resource_owners.h"
#include "core/labels.h"
#include "host/netlink/kept_netlink.h"
#include "host/netlink/nldev/nldev.h"
#include "task/background.h"

namespace rdma_exporter::collectors {
namespace {

using host::nldev::Resource;
using Table = host::nldev::ResourceTable;

// The queue pairs of subnet management and general services have the numbers 0 and 1 on every port.
std::uint64_t identity(const Resource& resource, Table table) {
  constexpr std::uint8_t kGsi = 1;
  const bool special = table == Table::qp && resource.type.value_or(kGsi + 1) <= kGsi;
  const std::uint64_t port = special ? resource.port.value_or(0) : 0;
  return port << 32U | resource.id;
}

}  // namespace

ResourceDetail::ResourceDetail(const Context& context, const host::Device& device)
    : host_(context.host),
      settings_(context.resource),
      request_(host::nldev::device_request(*device.netlink_index)),
      netlink_(host::kept_netlink(host_, host::NetlinkProtocol::rdma)),
      qp_statistics_(*device.netlink_index, context.carry_over->take(device.id, "qp_statistic")),
      odp_statistics_(*device.netlink_index, context.carry_over->take(device.id, "odp_statistic")) {
  for (std::size_t i = 0; i < tables_.size(); ++i)
    tables_.at(i).report.table = host::nldev::to_string(static_cast<Table>(i));
}

std::shared_ptr<const DetailReport> ResourceDetail::pass(const ResourceCounts& counts) {
  const DumpLimits limits{settings_.max_entries, DumpGuard::Clock::now() + settings_.timeout};
  // Queue pairs come last: on most adapters each one is a firmware command.
  for (const Table table : {Table::mr, Table::cq, Table::cm_id, Table::srq, Table::ctx})
    pass_table(table, counts, limits);
  if (on_demand_) odp_statistics_.dump(*netlink_, limits);
  // A kernel that counts contexts (5.14) also has statistics of sets of queue pairs (5.3).
  const auto qps = counts.find(host::nldev::to_string(Table::qp));
  const bool statistics = counts.contains(host::nldev::to_string(Table::ctx)) && qps != counts.end() &&
                          forbidden(Table::qp, qps->second).empty();
  if (statistics) qp_statistics_.dump(*netlink_, limits);
  pass_table(Table::qp, counts, limits);
  if (statistics) qp_statistics_.finish();
  return report();
}

void ResourceDetail::pass_table(Table table, const ResourceCounts& counts, const DumpLimits& limits) {
  TableState& state = tables_.at(static_cast<std::size_t>(table));
  const auto count = counts.find(state.report.table);
  state.present = count != counts.end();
  if (!state.present) return;
  const std::string_view limit = forbidden(table, count->second);
  if (!limit.empty()) {
    state.report.forbid(limit);
    state.owners.clear();
  } else if (count->second == 0) {
    state.report.truncated = {};
    state.report.finish(ResourceTally(table).rows());
    state.owners.clear();
  } else {
    dump(table, state, limits);
  }
}

std::string_view ResourceDetail::forbidden(Table table, std::uint64_t objects) const {
  if (table == Table::qp && objects > settings_.max_qps) return "max_qps";
  return objects > settings_.max_entries ? DumpGuard::kMaxEntries : std::string_view();
}

void ResourceDetail::dump(Table table, TableState& state, const DumpLimits& limits) {
  ResourceTally tally(table);
  const auto on_message = [&](host::Bytes message, DumpGuard& guard) {
    return host::nldev::parse_resources(message, table, [&](const Resource& resource) {
      if (!guard.fresh(identity(resource, table))) return;
      tally.add(resource);
      if (table == Table::qp) qp_statistics_.see(resource);
    });
  };
  if (!dump_table(*netlink_, host::nldev::resource_command(table), request_, limits, state.report,
                  on_message))
    return;
  state.report.finish(tally.rows());
  state.owners = tally.owners();
  on_demand_ = on_demand_ || tally.on_demand();
}

const OwnerShares* ResourceDetail::shares(Table table) const {
  const TableState& state = tables_.at(static_cast<std::size_t>(table));
  return state.present && state.report.finished ? &state.owners : nullptr;
}

std::shared_ptr<const DetailReport> ResourceDetail::report() const {
  auto report = std::make_shared<DetailReport>();
  for (const TableState& state : tables_)
    if (state.present) report->tables.push_back(state.report);
  report->tables.push_back(qp_statistics_.report());
  if (on_demand_) report->tables.push_back(odp_statistics_.report());
  for (TableReport& table : report->tables) {
    table.labels = core::render_labels({{"table", table.table}});
    table.truncated_labels = core::render_labels({{"table", table.table}, {"reason", table.truncated}});
  }
  report->owners = owner_rows({shares(Table::qp), shares(Table::mr), shares(Table::cq), shares(Table::ctx)},
                              *host_.procfs, settings_.owners, settings_.owners_top);
  return report;
}

ResourcePasses::ResourcePasses(const Context& context, const host::Device& device)
    : detail_(context, device),
      report_(*context.background, task::Schedule(context.resource.interval), "resources were not dumped") {}

void ResourcePasses::start_if_due(ResourceCounts counts, Clock::time_point now) {
  report_.read_if_due(
      now, [self = shared_from_this(), counts = std::move(counts)] { return self->detail_.pass(counts); });
}

void ResourcePasses::wait_for_first(std::chrono::milliseconds at_most) {
  if (!latest()) report_.wait_until(Clock::now() + at_most);
}

}  // namespace rdma_exporter::collectors
