// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/hw_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "collectors/counters/tables/port_families.h"
#include "collectors/counters/tables/tables.h"

namespace rdma_exporter::collectors {
namespace {

using host::Driver;

// Which drivers have a row for each counter.
using DriversByCounter = std::map<std::string_view, std::set<Driver>>;

const DriversByCounter& drivers_by_counter() {
  static const DriversByCounter all = [] {
    DriversByCounter drivers;
    for (std::uint8_t i = 0; i < host::kDrivers; ++i)
      for (const CounterRow& row : port_hw_rows(static_cast<Driver>(i)))
        drivers[row.raw].insert(static_cast<Driver>(i));
    return drivers;
  }();
  return all;
}

struct GaugeName {
  Driver driver;
  std::string_view name;
  bool prefix = false;  ///< matches any name that starts with it
};

constexpr std::array kGauges{
    GaugeName{Driver::bnxt_re, "active_", true},     // current number of objects
    GaugeName{Driver::bnxt_re, "watermark_", true},  // highest number of objects since the driver was loaded
    GaugeName{Driver::bnxt_re, "db_fifo_register"},  // fill level of the doorbell FIFO
    GaugeName{Driver::mana, "current_rate"},         // in a unit of the firmware
    // Whether the firmware counts up or reports the current number is not documented. A gauge is correct in
    // both cases; as a counter, a decrease would look like a reset.
    GaugeName{Driver::mana, "num_qps_congested"},
    GaugeName{Driver::hfi1, "DRIVER_CtxtsOpen"},  // receive contexts that are open
};

}  // namespace

std::span<const CounterRow> port_hw_rows(Driver driver) {
  switch (driver) {
    case Driver::mlx5:
      return table::mlx5_port();
    case Driver::mlx4:
      return table::mlx4_port();
    case Driver::bnxt_re:
      return table::bnxt_re_port();
    case Driver::irdma:
      return table::irdma_port();
    case Driver::efa:
      return table::efa_port();
    case Driver::erdma:
      return table::erdma_port();
    case Driver::hns:
      return table::hns_port();
    case Driver::mana:
      return table::mana_port();
    case Driver::hfi1:
      return table::hfi1_port();
    case Driver::rxe:
      return table::rxe_port();
    default:  // ionic: its firmware delivers names and meanings at run time; the others have none at the port
      return {};
  }
}

std::span<const CounterRow> device_hw_rows(Driver driver) {
  switch (driver) {
    case Driver::mlx5:
      return table::mlx5_device();
    case Driver::mlx4:
      return table::mlx4_device();
    case Driver::efa:
      return table::efa_device();
    case Driver::cxgb4:
      return table::cxgb4_device();
    case Driver::mana:
      return table::mana_device();
    default:
      return {};
  }
}

bool is_other_spelling(std::string_view raw, Driver driver) {
  if (driver == Driver::mlx5) return table::mlx5_other_spelling(raw);
  return driver == Driver::irdma && table::irdma_other_spelling(raw);
}

host::Driver driver_of_counters(std::span<const std::string> names) {
  struct Score {
    std::size_t known = 0;
    std::size_t own = 0;
  };
  constexpr std::size_t kOwn = 3;
  std::map<Driver, Score> scores;
  std::size_t counters = 0;
  for (const std::string& name : names) {
    if (name == "lifespan") continue;  // of the directory, whatever the driver
    ++counters;
    const auto found = drivers_by_counter().find(name);
    if (found == drivers_by_counter().end()) continue;
    for (const Driver driver : found->second) {
      ++scores[driver].known;
      if (found->second.size() == 1) ++scores[driver].own;
    }
  }
  Driver best = Driver::unknown;
  for (const auto& [driver, score] : scores) {
    const bool enough = score.known * 5 >= counters * 4 && score.own >= kOwn;
    if (enough && (best == Driver::unknown || score.known > scores[best].known)) best = driver;
  }
  return best;
}

bool counts_roce_only(const core::MetricDesc& family) {
  static constexpr std::array kFamilies{&kPortCnpPackets,   &kPortCnpIgnored, &kPortEcnMarked,
                                        &kPortSlowRestarts, &kPortIcrcErrors, &kPortRetransmittedPackets};
  return std::find(kFamilies.begin(), kFamilies.end(), &family) != kFamilies.end();
}

std::span<const core::MetricDesc* const> hw_families() {
  static const std::vector<const core::MetricDesc*> all = [] {
    std::vector<CounterRow> rows;
    for (std::uint8_t driver = 0; driver < host::kDrivers; ++driver)
      for (const CounterRow& row : port_hw_rows(static_cast<Driver>(driver))) rows.push_back(row);
    auto families = families_of(rows);
    families.insert(families.end(), {&kPortRaw, &kPortRawValue, &kDeviceRaw, &kDeviceRawValue});
    return families;
  }();
  return all;
}

bool is_gauge(std::string_view raw, Driver driver) {
  return std::any_of(kGauges.begin(), kGauges.end(), [&](const GaugeName& gauge) {
    if (driver != gauge.driver && driver != Driver::unknown) return false;
    return gauge.prefix ? raw.starts_with(gauge.name) : raw == gauge.name;
  });
}

}  // namespace rdma_exporter::collectors
