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
    : rules_(rules),
      labels_(std::move(labels)),
      state_{core::intern(std::vector<std::string>()), {}},
      plan_(core::intern(SeriesPlan())),
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
  plan_ = core::intern(plan_series(rules_, *state_.names));
  counters_.assign(state_.names->size(), {});
  state_.extensions.clear();
  for (std::uint32_t i = 0; i < state_.names->size(); ++i) {
    const std::string& name = (*state_.names)[i];
    Counter& counter = counters_[i];
    counter.bits = counter_bits(rules_, name);
    if (!rules_.unwrap || counter.bits != 32) continue;
    counter.extension = static_cast<std::uint32_t>(state_.extensions.size());
    const auto known = earlier.find(name);
    state_.extensions.push_back(known == earlier.end() ? Extension() : known->second);
    state_.extensions.back().counter = i;
  }
  state_.extensions.shrink_to_fit();
  for (const PlannedSeries& series : plan_->series)
    for (const std::uint32_t index : series.counters) counters_[index].wanted = true;
  for (const Saturation& saturation : plan_->saturation) counters_[saturation.counter].wanted = true;
}

void CounterSet::put(std::size_t index, std::uint64_t value) {
  if (value == rules_.undecodable) return;
  Counter& counter = counters_[index];
  if (counter.extension != kNone) {
    Extension& known = state_.extensions[counter.extension];
    const bool fell = value < known.last_raw;
    const bool wrapped = fell && known.last_raw - value > kHalf32;
    if (wrapped) known.wrapped += maximum(32) + 1;
    if (fell && !wrapped) known.wrapped = 0;
    known.last_raw = value;
    value += known.wrapped;
  }
  counter.value = value;
  counter.present = true;
}

void CounterSet::emit_series(const PlannedSeries& series, core::SampleBatch& out) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t index : series.counters) {
    const Counter& counter = counters_[index];
    if (!counter.present) return;
    sum += counter.value;
  }
  if (series.divisor != 1) {
    out.add_stable(*series.metric, labels_, static_cast<double>(sum) * series.scale / series.divisor,
                   series.labels);
  } else if (sum <= std::numeric_limits<std::uint64_t>::max() / series.scale) {
    out.add_stable(*series.metric, labels_, sum * series.scale, series.labels);
  } else {
    out.add_stable(*series.metric, labels_, static_cast<double>(sum) * series.scale, series.labels);
  }
}

void CounterSet::emit(core::JobRun& run) {
  core::SampleBatch& out = run.samples();
  for (const PlannedSeries& series : plan_->series) emit_series(series, out);
  for (const auto& [index, labels] : plan_->saturation) {
    const Counter& counter = counters_[index];
    if (!counter.present) continue;
    const bool saturated = counter.value >= maximum(counter.bits);
    if (saturated || !rules_.saturated_only)
      out.add_stable(*rules_.saturated, labels_, std::uint64_t{saturated}, labels);
  }
  if (plan_->duplicates > 0) run.count_dropped("duplicate", plan_->duplicates);
  for (Counter& counter : counters_) counter.was_present = std::exchange(counter.present, false);
  if (!state_.extensions.empty()) carried_.leave(state_);
}

}  // namespace rdma_exporter::collectors
