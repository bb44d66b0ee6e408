// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "collectors/burst/sampler/pause_sampler.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/ethtool/ethtool_table.h"
#include "collectors/ethtool/netdev_shared.h"

namespace rdma_exporter::collectors {

using std::chrono::nanoseconds;

namespace {

// priority="3",direction="rx"
bool is_lossless(const BurstSignal& signal, std::optional<std::uint8_t> pfc) {
  constexpr std::string_view kLabel = "priority=\"";
  if (!pfc || !signal.labels.starts_with(kLabel)) return true;
  return ((*pfc >> (signal.labels[kLabel.size()] - '0')) & 1) != 0;
}

}  // namespace

PauseWatch::PauseWatch(host::Host& host, std::shared_ptr<const host::Netdev> netdev,
                       std::shared_ptr<NetdevShared> shared, const BurstSettings& settings)
    : netdev_(std::move(netdev)),
      shared_(std::move(shared)),
      settings_(settings),
      rows_(ethtool_rows(netdev_->driver)),
      table_(burst_table(rows_)),
      stats_(*host.ethtool, netdev_->name),
      source_(table_.signals) {
  source_.set_capacity(1);  // a second of pause in a second
}

void PauseWatch::forget() {
  source_.forget();
  due_ = {};
}

void PauseWatch::read(host::EthtoolScratch& scratch, nanoseconds window, nanoseconds rest,
                      const BurstTime& time) {
  const auto begin = time.now();
  const auto reading = stats_.read(scratch);
  const auto end = time.now();
  cost_ = std::min(end - begin, std::exchange(spent_, end - begin));
  if (!reading) return failed(reading.error(), end);
  patience_.worked();
  if (stats_.version() != version_ || shared_->pfc() != pfc_) select();
  if (selected_.empty()) {
    due_ = end + kNothingThere;
    return;
  }
  const bool seen = take(*reading, {begin, end}, {window, windows_});
  if (seen) attention_until_ = end + kAttention;
  const bool attentive =
      settings_.pause == BurstPause::always || (attention_until_ && end < *attention_until_);
  windows_ = attentive ? 1 : static_cast<unsigned>(std::max<std::int64_t>(rest / window, 1));
  due_ = next_tick(end, time.wall(), window * windows_).at;
}

// True when there was pause.
bool PauseWatch::take(const host::EthtoolStats::Reading& reading, const ReadTime& time, Cadence cadence) {
  values_.clear();
  for (const std::size_t index : selected_) values_.push_back(reading.value(index));
  source_.take(time, values_, cadence);
  const bool storm = storm_was_seen(reading);
  return storm || source_.last_share() > kPaused;
}

bool PauseWatch::storm_was_seen(const host::EthtoolStats::Reading& reading) {
  std::uint64_t events = 0;
  for (const std::size_t index : storms_) events += reading.value(index);
  const auto before = std::exchange(storm_events_, events);
  return before && *before != events;
}

void PauseWatch::select() {
  version_ = stats_.version();
  pfc_ = shared_->pfc();
  selected_.clear();
  storms_.clear();
  storm_events_.reset();
  std::vector<BurstCounter> counters;
  for (std::size_t i = 0; i < stats_.size(); ++i) {
    const std::string_view name = stats_.name(i);
    const BurstCounter* const counter = table_.find(name);
    if (counter != nullptr && is_lossless(table_.signals[counter->signal], pfc_)) {
      counters.push_back(*counter);
      selected_.push_back(i);
    }
    if (std::any_of(rows_.begin(), rows_.end(), [&](const CounterRow& row) {
          return row.metric == &kPauseStormEvents && row.raw == name;
        }))
      storms_.push_back(i);
  }
  source_.set_counters(std::move(counters));
}

void PauseWatch::failed(const core::Error& error, BurstClock::time_point now) {
  // Without statistics, or in the middle of a reset; or it has gone, and the next discovery will tell.
  if (core::is_errno(error, EOPNOTSUPP) || core::is_errno(error, ENODEV)) {
    source_.forget();
    due_ = now + kNothingThere;
    return;
  }
  source_.fail(core::reason(error));
  patience_.failed(now);
  due_ = patience_.next();
}

PauseSampler::PauseSampler(const BurstSettings& settings,
                           std::shared_ptr<const std::atomic<unsigned>> threads, BurstTime time)
    : settings_(settings), threads_(std::move(threads)), time_(std::move(time)), pace_(settings.window) {}

void PauseSampler::add(const std::shared_ptr<PauseWatch>& watch) {
  const std::lock_guard lock(mutex_);
  added_.push_back(watch);
}

PauseSampler::Watches PauseSampler::watches() {
  const std::lock_guard lock(mutex_);
  Watches all;
  std::erase_if(added_, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : added_)
    if (auto watch = weak.lock()) all.push_back(std::move(watch));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->due() < b->due(); });
  return all;
}

nanoseconds PauseSampler::cost(const Watches& all) {
  nanoseconds sum{0};
  for (const auto& watch : all) sum += watch->cost();
  return sum;
}

// As if each window of each interface were read: what is spared while they rest does not make it shorter, or
// every pause would begin with another window.
void PauseSampler::keep_pace(const Watches& all, BurstClock::time_point now) {
  const nanoseconds cpu = time_.cpu();
  if (last_turn_) {
    const double share = static_cast<double>(cost(all).count()) / static_cast<double>(pace_.window().count());
    const auto elapsed = static_cast<double>((now - *last_turn_).count());
    const double limit = settings_.max_cpu_percent / 100.0 / std::max(1U, threads_->load());
    pace_.account(now, nanoseconds(static_cast<std::int64_t>(share * elapsed)), cpu - last_cpu_, limit);
  }
  last_turn_ = now;
  last_cpu_ = cpu;
}

BurstClock::time_point PauseSampler::turn(bool first) {
  const Watches all = watches();
  if (first) {
    for (const auto& watch : all) watch->forget();
    last_turn_.reset();
  }
  keep_pace(all, time_.now());
  auto now = time_.now();
  auto next = BurstClock::time_point::max();
  for (const auto& watch : all) {
    if (watch->due() <= now && now >= not_before_) {
      // Long enough that all of them fit into a twentieth of it.
      const nanoseconds rest =
          std::min(std::max({kRest, pace_.window(), (kSpare + 1) * cost(all)}), kLongestRest);
      watch_.begin(now, pace_.window());
      watch->read(scratch_, pace_.window(), rest, time_);
      watch_.end();
      now = time_.now();
      not_before_ = now + std::min(kSpare * watch->spent(), kLongestRest);
    }
    next = std::min(next, std::max(watch->due(), not_before_));
  }
  return std::min(next, now + kRest);
}

}  // namespace rdma_exporter::collectors
