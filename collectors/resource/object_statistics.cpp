// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/resource/object_statistics.h"

#include <map>
#include <utility>

#include "collectors/resource/resource_families.h"
#include "core/labels.h"
#include "host/netlink/nldev/nldev.h"

namespace rdma_exporter::collectors {

using namespace host::nldev;

void RunningTotals::put(std::uint32_t id, std::string_view name, std::uint64_t value,
                        const std::string& series) {
  Last& last = last_[{id, std::string(name)}];
  totals_[series] += value >= last.value ? value - last.value : value;
  last = {value, dump_};
}

void RunningTotals::end_dump() {
  std::erase_if(last_, [this](const auto& entry) { return entry.second.dump != dump_; });
  ++dump_;
}

QpStatistics::QpStatistics(std::uint32_t device_index, CarryOver::Slot carried)
    : request_(statistic_request(device_index, StatisticOf::qp)),
      carried_(std::move(carried)),
      totals_(carried_.found<RunningTotals>()) {}

void QpStatistics::dump(host::Netlink& netlink, const DumpLimits& limits) {
  sets_.clear();
  const auto on_message = [this](host::Bytes message, DumpGuard& guard) {
    return parse_qp_statistics(message, [&](const QpStatistic& statistic) {
      if (!guard.fresh(statistic.id)) return;
      Set& set = sets_.emplace_back(
          Set{statistic.id, statistic.port, statistic.qp_type, statistic.first_qp, statistic.qps, {}});
      for (const auto& [name, value] : statistic.values) set.values.emplace_back(name, value);
    });
  };
  complete_ = dump_table(netlink, kStatGet, request_, limits, report_, on_message);
}

void QpStatistics::see(const Resource& qp) {
  for (Set& set : sets_)
    if (!set.type && set.first_qp == qp.id && qp.type) set.type = *qp.type;
}

void QpStatistics::finish() {
  std::map<std::string, std::uint64_t> qps;
  for (const Set& set : sets_) {
    const std::string labels = core::render_labels(
        {{"port", std::to_string(set.port)}, {"qp_type", set.type ? qp_type_name(*set.type) : "unknown"}});
    qps[labels] += set.qps;
    for (const auto& [name, value] : set.values) {
      std::string series = labels;
      core::append_label(series, "counter", name);
      totals_.put(set.id, name, value, series);
    }
  }
  sets_.clear();
  if (!complete_) return;
  totals_.end_dump();
  carried_.leave(totals_);
  std::vector<ResourceRow> rows;
  for (const auto& [labels, value] : totals_.totals()) rows.push_back({&kQpStatistic, labels, value});
  for (const auto& [labels, n] : qps) rows.push_back({&kQpStatisticQps, labels, n});
  report_.finish(std::move(rows));
}

OdpStatistics::OdpStatistics(std::uint32_t device_index, CarryOver::Slot carried)
    : request_(statistic_request(device_index, StatisticOf::mr)),
      carried_(std::move(carried)),
      totals_(carried_.found<RunningTotals>()) {}

void OdpStatistics::dump(host::Netlink& netlink, const DumpLimits& limits) {
  const auto on_message = [this](host::Bytes message, DumpGuard& guard) {
    return parse_mr_statistics(message, [&](const MrStatistic& statistic) {
      if (!guard.fresh(statistic.id)) return;
      for (const auto& [name, value] : statistic.values)
        totals_.put(statistic.id, name, value, core::render_labels({{"event", name}}));
    });
  };
  if (!dump_table(netlink, kStatGet, request_, limits, report_, on_message)) return;
  totals_.end_dump();
  carried_.leave(totals_);
  std::vector<ResourceRow> rows;
  for (const auto& [labels, value] : totals_.totals()) rows.push_back({&kOdpStatistic, labels, value});
  report_.finish(std::move(rows));
}

}  // namespace rdma_exporter::collectors
