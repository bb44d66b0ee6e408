// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "app/replay.h"

#include <utility>

#include "app/setup/collector_settings.h"
#include "app/setup/make_host.h"
#include "collectors/collector_set.h"
#include "log/log.h"
#include "record/replaying_host.h"

namespace rdma_exporter::app {
namespace {

using Gain = Replay::Gain;
using Counters = std::map<std::string, Gain>;

// A recording answers at once: nothing has to be done aside.
class AtOnce : public task::Background {
 public:
  void start(std::function<void()> task) override { task(); }
  void tend() override {}
};

// Every counter in the snapshot that is shown, read by collectors that remember nothing.
Counters counters_of(const config::Config& config, const std::shared_ptr<record::Player>& player) {
  AtOnce background;
  host::Host host = record::replaying_host(player, 0);
  const collectors::Context context = collector_context(host, config, Purpose::once, background);
  collectors::CollectorSet set(context, enabled_collectors(config), device_filter(config.device));
  Counters counters;
  if (!set.refresh()) return counters;
  for (const auto& job : set.jobs()) {
    core::JobRun run(1);
    job->run(run);
    for (const core::Sample& sample : run.samples().samples()) {
      if (sample.metric->type != core::MetricType::counter) continue;
      counters.insert_or_assign(series_name(sample),
                                sample.is_real ? Gain(sample.real) : Gain(sample.integer));
    }
  }
  return counters;
}

// nullopt-like: false when the counter has not risen.
template <typename Number>
bool risen(const Gain& first, const Gain& last, Gain& gain) {
  const Number* before = std::get_if<Number>(&first);
  const Number* after = std::get_if<Number>(&last);
  if (before == nullptr || after == nullptr || *after <= *before) return false;
  gain = *after - *before;
  return true;
}

// Runs another job, and adds to its counters what the rounds before this one have gained.
class ContinuedJob : public core::Job {
 public:
  ContinuedJob(std::shared_ptr<core::Job> job, std::shared_ptr<const Replay> replay)
      : Job(job->collector(), job->device(), job->netdev()),
        job_(std::move(job)),
        replay_(std::move(replay)),
        inner_(0) {}

  void run(core::JobRun& run) override {
    inner_.reset(run.cycle(), run.now());
    job_->run(inner_);
    const std::uint64_t rounds = replay_->player()->shown().rounds;
    for (const core::Sample& sample : inner_.samples().samples()) add(sample, rounds, run.samples());
    for (const auto& [reason, count] : inner_.read_errors())
      for (std::uint64_t i = 0; i < count; ++i) run.count_read_error(reason);
    for (const auto& [reason, series] : inner_.dropped()) run.count_dropped(reason, series);
    if (inner_.failed()) run.fail();
  }

 private:
  void add(const core::Sample& sample, std::uint64_t rounds, core::SampleBatch& out) const {
    const bool counts = sample.metric->type == core::MetricType::counter && rounds > 0;
    const Gain* gain = counts ? replay_->gain(series_name(sample)) : nullptr;
    if (sample.metric->type == core::MetricType::histogram) {
      out.add(*sample.metric, sample.labels(), core::HistogramData(*sample.histogram));
    } else if (sample.is_real) {
      const double* more = gain ? std::get_if<double>(gain) : nullptr;
      out.add(*sample.metric, sample.labels(),
              sample.real + (more ? *more * static_cast<double>(rounds) : 0));
    } else {
      const std::uint64_t* more = gain ? std::get_if<std::uint64_t>(gain) : nullptr;
      out.add(*sample.metric, sample.labels(), sample.integer + (more ? *more * rounds : 0));
    }
  }

  const std::shared_ptr<core::Job> job_;
  const std::shared_ptr<const Replay> replay_;
  core::JobRun inner_;
};

}  // namespace

std::string series_name(const core::Sample& sample) {
  return std::string(sample.metric->name) + "{" + sample.labels() + "}";
}

core::Result<std::shared_ptr<Replay>> Replay::open(const config::Config& config) {
  auto player = open_recording(config);
  if (!player) return tl::unexpected(std::move(player.error()));
  return *player ? std::make_shared<Replay>(config, std::move(*player)) : nullptr;
}

void Replay::log() const {
  const record::Manifest& manifest = player_->recording().manifest();
  log::info("recording loaded", {{"recorded", record::utc(manifest.snapshots.front().time)},
                                 {"kernel", manifest.kernel.release},
                                 {"devices", std::to_string(manifest.devices.size())},
                                 {"snapshots", std::to_string(manifest.snapshots.size())},
                                 {"made_by", "rdma_exporter " + manifest.tool_version},
                                 {"anonymized", manifest.anonymized ? "true" : "false"}});
}

Replay::Replay(const config::Config& config, std::shared_ptr<record::Player> player)
    : player_(std::move(player)) {
  const std::size_t snapshots = player_->recording().snapshots();
  if (snapshots < 2) return;
  const Counters first = counters_of(config, player_);
  player_->show({snapshots - 1, 0});
  const Counters last = counters_of(config, player_);
  player_->show({});
  for (const auto& [series, value] : last) {
    const auto before = first.find(series);
    if (before == first.end()) continue;
    Gain gain;
    if (risen<std::uint64_t>(before->second, value, gain) || risen<double>(before->second, value, gain))
      gains_.emplace(series, gain);
  }
}

const Gain* Replay::gain(const std::string& series) const {
  const auto known = gains_.find(series);
  return known == gains_.end() ? nullptr : &known->second;
}

std::shared_ptr<core::Job> Replay::continued(const std::shared_ptr<core::Job>& job) {
  std::erase_if(continued_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = continued_[job.get()];
  auto result = known.lock();
  if (!result) known = result = std::make_shared<ContinuedJob>(job, shared_from_this());
  return result;
}

}  // namespace rdma_exporter::app
