// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/table.h"

#include <algorithm>
#include <array>
#include <string>

#include "collectors/burst/families.h"
#include "collectors/counters/tables/port_families.h"
#include "collectors/ethtool/ethtool_table.h"

namespace rdma_exporter::collectors {
namespace {

struct Sampled {
  const core::MetricDesc* of;  // the family of the counter itself
  BurstKind kind;
  const core::MetricDesc* family;
  const core::MetricDesc* maximum;
  const core::MetricDesc* lengths;
  std::span<const double> bounds;
};

// In a function, as descriptions of other files are only sure to exist once main runs.
std::span<const Sampled> sampled_counters() {
  static const std::array counters{
      Sampled{&kPortDataBytes, BurstKind::share, &kBurstUtilization, &kBurstMaxUtilization, &kBurstLength,
              kBurstShareBounds},
      Sampled{&kPfcPauseSeconds, BurstKind::share, &kBurstPfcPaused, &kBurstMaxPfcPaused, nullptr,
              kBurstPausedBounds},
      Sampled{&kPortEcnMarked, BurstKind::count, &kBurstEcnMarked, nullptr, nullptr, kBurstCountBounds},
      Sampled{&kPortCnpPackets, BurstKind::count, &kBurstCnp, nullptr, nullptr, kBurstCountBounds},
      Sampled{&kPortReceiveBufferMissing, BurstKind::count, &kBurstReceiveBufferMissing, nullptr, nullptr,
              kBurstCountBounds},
  };
  return counters;
}

BurstSignal make_signal(const Sampled& sampled, const CounterRow& row) {
  BurstSignal signal;
  signal.family = sampled.family;
  signal.maximum = sampled.maximum;
  signal.lengths = sampled.lengths;
  signal.labels = std::string(row.labels);
  signal.kind = sampled.kind;
  signal.unit = static_cast<double>(row.scale) / row.divisor;
  signal.bounds = sampled.bounds;
  if (sampled.lengths != nullptr) signal.length_bounds = kBurstLengthBounds;
  return signal;
}

// The sum over all priorities is none of them.
bool is_sum(const CounterRow& row) { return row.labels.find("priority=\"all\"") != std::string_view::npos; }

}  // namespace

const BurstCounter* BurstTable::find(std::string_view raw) const {
  const auto it =
      std::find_if(counters.begin(), counters.end(), [&](const auto& known) { return known.first == raw; });
  return it == counters.end() ? nullptr : &it->second;
}

BurstTable burst_table(std::span<const CounterRow> rows,
                       const std::function<bool(const core::MetricDesc&)>& left_out) {
  BurstTable table;
  const std::span<const Sampled> known_families = sampled_counters();
  for (const CounterRow& row : rows) {
    const auto sampled = std::find_if(known_families.begin(), known_families.end(),
                                      [&](const Sampled& one) { return one.of == row.metric; });
    if (sampled == known_families.end() || is_sum(row) || (left_out && left_out(*row.metric))) continue;
    const auto is_same = [&](const BurstSignal& signal) {
      return signal.family == sampled->family && signal.labels == row.labels;
    };
    const auto known = std::find_if(table.signals.begin(), table.signals.end(), is_same);
    const auto index = static_cast<std::size_t>(known - table.signals.begin());
    if (known == table.signals.end()) table.signals.push_back(make_signal(*sampled, row));
    table.counters.emplace_back(row.raw, BurstCounter{index, row.bits});
  }
  return table;
}

}  // namespace rdma_exporter::collectors
