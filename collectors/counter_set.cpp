// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counter_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include "collectors/gauge_names.h"
#include "collectors/hw_table.h"
#include "core/labels.h"

namespace rdma_exporter::collectors {
namespace {

// A value this far below its predecessor has wrapped; one that fell less far was reset.
constexpr std::uint64_t kHalf32 = std::uint64_t{1} << 31;

std::uint64_t maximum(std::uint8_t bits) { return (std::uint64_t{1} << bits) - 1; }

std::string join(const std::string& labels, std::string_view more) {
  if (more.empty()) return labels;
  return labels.empty() ? std::string(more) : labels + "," + std::string(more);
}

}  // namespace

CounterSet::CounterSet(CounterRules rules, std::string labels) : rules_(rules), labels_(std::move(labels)) {}

void CounterSet::set_names(std::vector<std::string> names) {
  ++version_;
  std::unordered_map<std::string, Counter> earlier;
  for (std::size_t i = 0; i < names_.size(); ++i) earlier.emplace(std::move(names_[i]), counters_[i]);
  names_ = std::move(names);
  counters_.assign(names_.size(), {});
  series_.clear();
  saturation_.clear();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto it = earlier.find(names_[i]);
    if (it != earlier.end()) counters_[i] = it->second;
    counters_[i].value.reset();
    add_series(i);
  }
  drop_incomplete_sums();
  drop_duplicates_and_excess();
}

void CounterSet::add_series(std::size_t index) {
  bool curated = false;
  for (const CounterRow& row : rules_.rows) {
    if (row.raw != names_[index]) continue;
    counters_[index].bits = row.bits;
    if (row.metric == nullptr) continue;
    add_curated(index, row);
    curated = true;
  }
  if (rules_.raw == RawPolicy::all || (rules_.raw == RawPolicy::unmapped && !curated)) add_raw(index);
  if (rules_.saturated != nullptr && counters_[index].bits < 64)
    saturation_.emplace_back(index, join(labels_, core::render_labels({{"counter", names_[index]}})));
}

void CounterSet::add_curated(std::size_t index, const CounterRow& row) {
  std::string labels = join(labels_, row.labels);
  const auto same = std::find_if(series_.begin(), series_.end(), [&](const Series& series) {
    return series.metric == row.metric && series.labels == labels;
  });
  if (same != series_.end()) {
    same->addends.push_back(index);
  } else {
    series_.push_back({row.metric, std::move(labels), row.scale, {index}});
  }
}

void CounterSet::add_raw(std::size_t index) {
  const bool gauge = rules_.raw_value != nullptr && is_gauge(names_[index], rules_.driver);
  const core::MetricDesc* family = gauge ? rules_.raw_value : rules_.raw_counter;
  series_.push_back({family, join(labels_, core::render_labels({{"counter", names_[index]}})), 1, {index}});
}

std::size_t CounterSet::addends_wanted(const Series& series) const {
  return static_cast<std::size_t>(std::count_if(rules_.rows.begin(), rules_.rows.end(), [&](const CounterRow& row) {
    return row.metric == series.metric && join(labels_, row.labels) == series.labels &&
           !is_other_spelling(row.raw, rules_.driver);
  }));
}

// A sum is right only with all its addends: where the source lacks one, the others are exported raw.
void CounterSet::drop_incomplete_sums() {
  std::vector<std::size_t> orphans;
  std::erase_if(series_, [&](const Series& series) {
    if (series.metric == rules_.raw_counter || series.metric == rules_.raw_value) return false;
    if (series.addends.size() >= addends_wanted(series)) return false;
    orphans.insert(orphans.end(), series.addends.begin(), series.addends.end());
    return true;
  });
  if (rules_.raw != RawPolicy::unmapped) return;
  for (const std::size_t index : orphans) {
    const bool elsewhere = std::any_of(series_.begin(), series_.end(), [&](const Series& series) {
      return std::find(series.addends.begin(), series.addends.end(), index) != series.addends.end();
    });
    if (!elsewhere) add_raw(index);
  }
}

// Two names may become one label value when bytes that are no UTF-8 are replaced.
void CounterSet::drop_duplicates_and_excess() {
  std::set<std::pair<const core::MetricDesc*, std::string_view>> seen;
  std::vector<Series> kept;
  duplicates_ = 0;
  excess_ = 0;
  kept.reserve(series_.size());
  for (Series& series : series_) {
    if (kept.size() >= rules_.max_series) {
      ++excess_;
    } else if (kept.push_back(std::move(series)); !seen.emplace(kept.back().metric, kept.back().labels).second) {
      kept.pop_back();
      ++duplicates_;
    }
  }
  series_ = std::move(kept);
}

void CounterSet::put(std::size_t index, std::uint64_t value) {
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
}

void CounterSet::emit(core::JobRun& run) {
  core::SampleBatch& out = run.samples();
  for (const Series& series : series_) {
    std::uint64_t sum = 0;
    bool complete = true;
    for (const std::size_t index : series.addends) {
      complete = complete && counters_[index].value.has_value();
      sum += counters_[index].value.value_or(0);
    }
    if (!complete) continue;
    if (sum <= std::numeric_limits<std::uint64_t>::max() / series.scale) {
      out.add_stable(*series.metric, series.labels, sum * series.scale);
    } else {
      out.add_stable(*series.metric, series.labels, static_cast<double>(sum) * series.scale);
    }
  }
  for (const auto& [index, labels] : saturation_) {
    const Counter& counter = counters_[index];
    if (!counter.value) continue;
    out.add_stable(*rules_.saturated, labels, std::uint64_t{*counter.value >= maximum(counter.bits)});
  }
  if (duplicates_ > 0) run.count_dropped("duplicate", duplicates_);
  if (excess_ > 0) run.count_dropped("series_per_device", excess_);
  for (Counter& counter : counters_) counter.value.reset();
}

}  // namespace rdma_exporter::collectors
