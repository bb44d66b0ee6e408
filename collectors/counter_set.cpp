// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counter_set.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace rdma_exporter::collectors {
namespace {

// A value this far below its predecessor has wrapped; one that fell less far was reset.
constexpr std::uint64_t kHalf32 = std::uint64_t{1} << 31;

std::uint64_t maximum(std::uint8_t bits) { return (std::uint64_t{1} << bits) - 1; }

}  // namespace

CounterSet::CounterSet(CounterRules rules, std::string labels)
    : rules_(rules), labels_(std::move(labels)), names_(core::intern({})) {}

void CounterSet::set_names(std::vector<std::string> names) {
  ++version_;
  std::unordered_map<std::string, Counter> earlier;
  for (std::size_t i = 0; i < names_->size(); ++i) earlier.emplace((*names_)[i], counters_[i]);
  names_ = core::intern(std::move(names));
  counters_.assign(names_->size(), {});
  saturation_.clear();
  for (std::uint32_t i = 0; i < names_->size(); ++i) {
    const std::string& name = (*names_)[i];
    Counter& counter = counters_[i];
    if (const auto it = earlier.find(name); it != earlier.end()) counter = it->second;
    counter.present = false;
    counter.bits = bits_of(name);
    if (rules_.saturated != nullptr && counter.bits < 64) saturation_.push_back({i, counter_label(name)});
  }
  take_plan(plan_series(rules_, *names_));
}

std::uint8_t CounterSet::bits_of(const std::string& name) const {
  const auto row = std::find_if(rules_.rows.begin(), rules_.rows.end(),
                                [&](const CounterRow& r) { return r.raw == name; });
  return row == rules_.rows.end() ? std::uint8_t{64} : row->bits;
}

void CounterSet::take_plan(SeriesPlan plan) {
  duplicates_ = plan.duplicates;
  series_.clear();
  addends_.clear();
  series_.reserve(plan.series.size());
  addends_.reserve(plan.series.size());
  for (PlannedSeries& planned : plan.series) {
    planned.labels.shrink_to_fit();
    series_.push_back({planned.metric, std::move(planned.labels), planned.scale, planned.divisor,
                       static_cast<std::uint32_t>(addends_.size()),
                       static_cast<std::uint32_t>(planned.addends.size())});
    addends_.insert(addends_.end(), planned.addends.begin(), planned.addends.end());
  }
}

void CounterSet::put(std::size_t index, std::uint64_t value) {
  if (value == rules_.undecodable) return;
  Counter& counter = counters_[index];
  if (rules_.unwrap && counter.bits == 32) {
    const bool fell = value < counter.last_raw;
    const bool wrapped = fell && counter.last_raw - value > kHalf32;
    if (wrapped) counter.wrapped += maximum(32) + 1;
    if (fell && !wrapped) counter.wrapped = 0;
    counter.last_raw = value;
    value += counter.wrapped;
  }
  counter.value = value;
  counter.present = true;
}

void CounterSet::emit_series(const Series& series, core::SampleBatch& out) const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < series.addends; ++i) {
    const Counter& counter = counters_[addends_[series.first_addend + i]];
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
  for (const Series& series : series_) emit_series(series, out);
  for (const auto& [index, labels] : saturation_) {
    const Counter& counter = counters_[index];
    if (!counter.present) continue;
    out.add_stable(*rules_.saturated, labels_, std::uint64_t{counter.value >= maximum(counter.bits)}, labels);
  }
  if (duplicates_ > 0) run.count_dropped("duplicate", duplicates_);
  for (Counter& counter : counters_) counter.present = false;
}

}  // namespace rdma_exporter::collectors
