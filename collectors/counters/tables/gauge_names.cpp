// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/tables/gauge_names.h"

#include <algorithm>
#include <array>

namespace rdma_exporter::collectors {
namespace {

using host::Driver;

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

bool is_gauge(std::string_view raw, Driver driver) {
  return std::any_of(kGauges.begin(), kGauges.end(), [&](const GaugeName& gauge) {
    if (driver != gauge.driver && driver != Driver::unknown) return false;
    return gauge.prefix ? raw.starts_with(gauge.name) : raw == gauge.name;
  });
}

}  // namespace rdma_exporter::collectors
