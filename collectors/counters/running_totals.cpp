// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/running_totals.h"

namespace rdma_exporter::collectors {

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

}  // namespace rdma_exporter::collectors
