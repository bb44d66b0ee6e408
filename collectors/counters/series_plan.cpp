// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/counters/series_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "collectors/counters/tables/hw_table.h"
#include "core/labels.h"

namespace rdma_exporter::collectors {
namespace {

class Planner {
 public:
  Planner(const CounterRules& rules, std::span<const std::string> names) : rules_(rules), names_(names) {}

  SeriesPlan plan() {
    for (std::uint32_t i = 0; i < names_.size(); ++i) {
      const bool curated = add_curated(i);
      if (rules_.raw == RawPolicy::all ||
          (rules_.raw == RawPolicy::unmapped && !curated && !is_judged(names_[i])))
        add_raw(i);
    }
    drop_incomplete_sums();
    drop_duplicates();
    std::erase_if(plan_.series, [this](const PlannedSeries& series) { return !is_served(*series.metric); });
    if (rules_.saturated != nullptr) plan_saturation();
    std::stable_partition(plan_.series.begin(), plan_.series.end(),
                          [this](const PlannedSeries& series) { return !is_raw(series); });
    plan_counters();
    return std::move(plan_);
  }

 private:
  // Returns whether the counter has a vendor-neutral name.
  bool add_curated(std::uint32_t index) {
    bool curated = false;
    for (const CounterRow& row : rules_.rows) {
      if (row.raw != names_[index] || row.metric == nullptr) continue;
      curated = true;
      const auto same =
          std::find_if(plan_.series.begin(), plan_.series.end(), [&](const PlannedSeries& series) {
            return series.metric == row.metric && series.labels == row.labels;
          });
      if (same != plan_.series.end()) {
        same->counters.push_back(index);
      } else {
        plan_.series.push_back({row.metric, std::string(row.labels), row.scale, row.divisor, {index}});
      }
    }
    return curated;
  }

  // Whether the tables decided that it needs no family. A counter without a row may be the one that matters.
  bool is_judged(std::string_view name) const {
    return rules_.lean && std::any_of(rules_.rows.begin(), rules_.rows.end(), [&](const CounterRow& row) {
             return row.raw == name && row.metric == nullptr;
           });
  }

  void add_raw(std::uint32_t index) {
    const bool gauge = rules_.raw_value != nullptr && rules_.is_gauge(names_[index], rules_.driver);
    const core::MetricDesc* family = gauge ? rules_.raw_value : rules_.raw_counter;
    std::string labels(rules_.raw_source);
    core::append_label(labels, "counter", names_[index]);
    plan_.series.push_back({family, std::move(labels), 1, 1, {index}});
  }

  bool is_raw(const PlannedSeries& series) const {
    return series.metric == rules_.raw_counter || series.metric == rules_.raw_value;
  }

  std::size_t counters_wanted(const PlannedSeries& series) const {
    const auto wanted = std::count_if(rules_.rows.begin(), rules_.rows.end(), [&](const CounterRow& row) {
      return row.metric == series.metric && row.labels == series.labels &&
             !is_other_spelling(row.raw, rules_.driver);
    });
    return static_cast<std::size_t>(wanted);
  }

  // A sum is correct only with all its counters: if the source lacks one, the others are exported raw.
  void drop_incomplete_sums() {
    std::vector<std::uint32_t> orphans;
    std::erase_if(plan_.series, [&](const PlannedSeries& series) {
      if (is_raw(series) || series.counters.size() >= counters_wanted(series)) return false;
      orphans.insert(orphans.end(), series.counters.begin(), series.counters.end());
      return true;
    });
    if (rules_.raw != RawPolicy::unmapped) return;
    for (const std::uint32_t index : orphans)
      if (!is_exported(index)) add_raw(index);
  }

  bool is_exported(std::uint32_t index) const {
    return std::any_of(plan_.series.begin(), plan_.series.end(), [&](const PlannedSeries& series) {
      return std::find(series.counters.begin(), series.counters.end(), index) != series.counters.end();
    });
  }

  // A name with a byte that is not UTF-8, and a name that spells this byte as \xHH, yield the same label
  // value.
  void drop_duplicates() {
    std::set<std::pair<const core::MetricDesc*, std::string>> seen;
    const auto dropped = std::erase_if(plan_.series, [&](const PlannedSeries& series) {
      return !seen.emplace(series.metric, series.labels).second;
    });
    plan_.duplicates = dropped;
  }

  bool is_served(const core::MetricDesc& family) const {
    return (rules_.selection == nullptr || rules_.selection->has(family)) &&
           (rules_.left_out == nullptr || !rules_.left_out(family));
  }

  bool is_left_out(std::string_view name) const {
    return std::any_of(rules_.rows.begin(), rules_.rows.end(), [&](const CounterRow& row) {
      return row.raw == name && row.metric != nullptr && !is_served(*row.metric);
    });
  }

  std::uint8_t bits(std::string_view name) const {
    const auto row = std::find_if(rules_.rows.begin(), rules_.rows.end(),
                                  [&](const CounterRow& r) { return r.raw == name; });
    return row == rules_.rows.end() ? std::uint8_t{64} : row->bits;
  }

  void plan_saturation() {
    for (std::uint32_t i = 0; i < names_.size(); ++i)
      if (bits(names_[i]) < 64 && !is_left_out(names_[i]))
        plan_.saturation.push_back({i, counter_label(names_[i])});
  }

  void plan_counters() {
    plan_.counters.resize(names_.size());
    for (const PlannedSeries& series : plan_.series)
      for (const std::uint32_t index : series.counters) plan_.counters[index].wanted = true;
    for (const Saturation& saturation : plan_.saturation) plan_.counters[saturation.counter].wanted = true;
    std::uint32_t extensions = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      PlannedCounter& counter = plan_.counters[i];
      counter.bits = bits(names_[i]);
      if (counter.wanted && rules_.unwrap && counter.bits == 32) counter.extension = extensions++;
    }
  }

  const CounterRules& rules_;
  std::span<const std::string> names_;
  SeriesPlan plan_;
};

}  // namespace

SeriesPlan plan_series(const CounterRules& rules, std::span<const std::string> names) {
  return Planner(rules, names).plan();
}

std::string counter_label(const std::string& name) { return core::render_labels({{"counter", name}}); }

}  // namespace rdma_exporter::collectors
