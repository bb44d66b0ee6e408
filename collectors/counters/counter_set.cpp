// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/counter_set.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/intern.h"

namespace rdma_exporter::collectors {
namespace {

// A value that fell by more than this has wrapped; one that fell by less was reset.
constexpr std::uint64_t kHalf32 = std::uint64_t{1} << 31;

std::uint64_t maximum(std::uint8_t bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

CounterSet::CounterSet(CounterRules rules, std::string labels, CarryOver::Slot carried)
    : rules_(core::intern(rules)),
      plan_(core::intern(SeriesPlan())),
      labels_(core::intern(std::move(labels))),
      state_{core::intern(std::vector<std::string>()), {}},
      carried_(std::move(carried)) {
  State found = carried_.found<State>();
  if (!found.names) return;
  state_ = std::move(found);
  set_names(*state_.names);
}

void CounterSet::set_names(std::vector<std::string> names) {
  ++version_;
  std::unordered_map<std::string, Extension> earlier;
  for (const Extension& known : state_.extensions) earlier.emplace((*state_.names)[known.counter], known);
  state_.names = core::intern(std::move(names));
  plan_ = core::intern(plan_series(*rules_, *state_.names));
  values_.assign(state_.names->size(), 0);
  present_.assign(state_.names->size(), {});
  state_.extensions.clear();
  for (std::uint32_t i = 0; i < state_.names->size(); ++i) {
    if (plan_->counters[i].extension == PlannedCounter::kNone) continue;
    const auto known = earlier.find((*state_.names)[i]);
    state_.extensions.push_back(known == earlier.end() ? Extension() : known->second);
    state_.extensions.back().counter = i;
  }
  state_.extensions.shrink_to_fit();
}

void CounterSet::put(std::size_t index, std::uint64_t value) {
  if (value == rules_->undecodable) return;
  const std::uint32_t extension = plan_->counters[index].extension;
  if (extension != PlannedCounter::kNone) {
    Extension& known = state_.extensions[extension];
    const bool fell = value < known.last_raw;
    const bool wrapped = fell && known.last_raw - value > kHalf32;
    if (wrapped) ++known.wraps;
    if (fell && !wrapped) known.wraps = 0;
    known.last_raw = value;
    value += known.wraps * (maximum(32) + 1);
  }
  values_[index] = value;
  present_[index].now = true;
}

void CounterSet::emit_series(const PlannedSeries& series, core::SampleBatch& out) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t index : series.counters) {
    if (!present_[index].now) return;
    sum += values_[index];
  }
  if (series.divisor != 1) {
    out.add_stable(*series.metric, *labels_, static_cast<double>(sum) * series.scale / series.divisor,
                   series.labels);
  } else if (sum <= std::numeric_limits<std::uint64_t>::max() / series.scale) {
    out.add_stable(*series.metric, *labels_, sum * series.scale, series.labels);
  } else {
    out.add_stable(*series.metric, *labels_, static_cast<double>(sum) * series.scale, series.labels);
  }
}

void CounterSet::emit(core::JobRun& run) {
  core::SampleBatch& out = run.samples();
  for (const PlannedSeries& series : plan_->series) emit_series(series, out);
  for (const auto& [index, labels] : plan_->saturation) {
    if (!present_[index].now) continue;
    const bool saturated = values_[index] >= maximum(plan_->counters[index].bits);
    if (saturated || !rules_->saturated_only)
      out.add_stable(*rules_->saturated, *labels_, std::uint64_t{saturated}, labels);
  }
  if (plan_->duplicates > 0) run.count_dropped("duplicate", plan_->duplicates);
  for (Presence& present : present_) present = {false, present.now};
  if (!state_.extensions.empty()) carried_.leave(state_);
}

}  // namespace rdma_exporter::collectors
