// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
//
// Collector burst: what short windows between two scrapes look like. Off by default. Threads of its own read
// chosen counters each 10 ms to 1 s while somebody scrapes (device_sampler.h, pause_sampler.h); a scrape only
// copies distributions. Of a recording or a tree of files there is nothing to sample.
#include <memory>
#include <string>
#include <utility>

#include "collectors/burst/families.h"
#include "collectors/burst/sampler/device_sampler.h"
#include "collectors/burst/sampler/pause_sampler.h"
#include "collectors/burst/sampler/sampling_thread.h"
#include "collectors/collector.h"
#include "collectors/ethtool/netdev_shared.h"
#include "core/labels.h"
#include "core/seconds.h"
#include "host/topology/netdev.h"

namespace rdma_exporter::collectors {
namespace {

using Clock = core::JobRun::Clock;

/// Turns of a sampler that lives as long as its job.
template <typename Sampler>
SamplingThread::Turn turns_of(const std::shared_ptr<Sampler>& sampler) {
  return [weak = std::weak_ptr<Sampler>(sampler)](bool first) {
    const auto alive = weak.lock();
    return alive ? alive->turn(first) : Clock::now() + SamplingThread::kKept;
  };
}

/// One source of a port or interface on the page.
class SourcePage {
 public:
  /// `owner`: labels of the port; `netdev`: of the interface, empty for what is read of the port itself.
  SourcePage(BurstSource& source, std::string owner, const std::string& netdev, std::string_view name)
      : source_(source),
        owner_(std::move(owner)),
        full_(netdev.empty() ? owner_ : owner_ + "," + core::render_labels({{"netdev", netdev}})),
        place_(core::render_labels({{"netdev", netdev}, {"source", name}})) {
    for (const std::string_view result : kWindowResults)
      results_.push_back(place_ + "," + core::render_labels({{"result", result}}));
  }

  void add(core::JobRun& run, bool hangs) {
    for (const std::string_view reason : source_.take_errors()) run.count_read_error(reason);
    const BurstSource::State state = source_.state();
    const bool has_counters = source_.has_counters();
    // Neither counters nor trouble: the adapter has nothing to sample.
    const bool has_failed = state.counts.back() > 0;
    if (!has_counters && !has_failed && !hangs) return;
    add_state(state, hangs, run.samples());
    for (std::size_t i = 0; i < source_.signals().size(); ++i) add_signal(i, run);
  }

 private:
  void add_state(const BurstSource::State& state, bool hangs, core::SampleBatch& out) const {
    out.add_stable(kBurstUp, owner_, std::uint64_t{hangs ? 0U : 1U}, place_);
    if (state.window.count() > 0) out.add_stable(kBurstWindow, owner_, core::seconds(state.window), place_);
    if (state.refresh) out.add_stable(kBurstRefresh, owner_, core::seconds(*state.refresh), place_);
    for (std::size_t i = 0; i < results_.size(); ++i)
      out.add_stable(kBurstWindows, owner_, state.counts.at(i), results_[i]);
    out.add(kBurstRead, owner_ + "," + place_, state.reads);
  }

  void add_signal(std::size_t index, core::JobRun& run) const {
    auto view = source_.view(index, run.now());
    if (!view) return;
    const BurstSignal& signal = source_.signals()[index];
    core::SampleBatch& out = run.samples();
    const std::string labels = signal.labels.empty() ? full_ : full_ + "," + signal.labels;
    out.add(*signal.family, labels, std::move(view->values));
    if (signal.maximum != nullptr && view->maximum)
      out.add_stable(*signal.maximum, full_, *view->maximum, signal.labels);
    if (signal.lengths != nullptr && view->lengths)
      out.add(*signal.lengths, labels, std::move(*view->lengths));
  }

  BurstSource& source_;
  const std::string owner_;
  const std::string full_;   ///< labels of distributions
  const std::string place_;  ///< labels behind the owner's of what is said about the source
  std::vector<std::string> results_;
};

std::string port_labels(const std::string& device, std::uint32_t port) {
  return core::render_labels({{"device", device}, {"port", std::to_string(port)}});
}

void keep(SamplingThread& thread, core::JobRun& run) {
  if (!thread.keep(run.now())) run.count_dropped("burst_threads", 1);
}

class BurstJob : public core::Job {
 public:
  BurstJob(const std::shared_ptr<const host::Device>& device, std::shared_ptr<DeviceSampler> sampler,
           SamplingThreads& threads)
      : Job("burst", device->name), sampler_(std::move(sampler)), thread_(threads.make(turns_of(sampler_))) {
    for (const DeviceSampler::Port& port : sampler_->ports())
      for (const auto& reader : port.readers)
        pages_.emplace_back(reader->source(), port_labels(device->name, port.number), "", reader->name());
  }
  ~BurstJob() override { thread_->stop(); }
  BurstJob(const BurstJob&) = delete;
  BurstJob& operator=(const BurstJob&) = delete;

  void run(core::JobRun& run) override {
    keep(*thread_, run);
    const bool hangs = sampler_->hangs(run.now());
    for (SourcePage& page : pages_) page.add(run, hangs);
  }

 private:
  const std::shared_ptr<DeviceSampler> sampler_;
  const std::shared_ptr<SamplingThread> thread_;
  std::vector<SourcePage> pages_;
};

/// What all interfaces share.
struct PauseSampling {
  std::shared_ptr<PauseSampler> sampler;
  std::shared_ptr<SamplingThread> thread;
};

class PauseJob : public core::Job {
 public:
  PauseJob(const host::Netdev& netdev, std::shared_ptr<PauseWatch> watch, PauseSampling sampling)
      : Job("burst", netdev.device, netdev.name),
        watch_(std::move(watch)),
        sampling_(std::move(sampling)),
        page_(watch_->source(), port_labels(netdev.device, netdev.port), netdev.name, "ethtool") {
    sampling_.sampler->add(watch_);
  }

  void run(core::JobRun& run) override {
    keep(*sampling_.thread, run);
    page_.add(run, sampling_.sampler->hangs(run.now()));
  }

 private:
  const std::shared_ptr<PauseWatch> watch_;
  const PauseSampling sampling_;
  SourcePage page_;
};

class BurstCollector : public Collector {
 public:
  explicit BurstCollector(const Context& context) : context_(context) {}

  std::shared_ptr<core::Job> device_job(const DeviceHandle& handle) override {
    if (!is_wanted(handle.device->name)) return nullptr;
    auto sampler =
        std::make_shared<DeviceSampler>(context_.host, handle.device, context_.burst, threads_.running());
    return std::make_shared<BurstJob>(handle.device, std::move(sampler), threads_);
  }

  std::shared_ptr<core::Job> netdev_job(const std::shared_ptr<const host::Netdev>& netdev) override {
    const bool off = context_.burst.pause == BurstPause::off || !context_.host.ethtool;
    // The bonding driver counts nothing, its members do.
    if (off || netdev->role == host::NetdevRole::bond || !is_wanted(netdev->device)) return nullptr;
    auto watch =
        std::make_shared<PauseWatch>(context_.host, netdev, context_.netdevs->of(netdev->id), context_.burst);
    if (!watch->is_supported()) return nullptr;
    if (!pause_.sampler) {
      pause_.sampler = std::make_shared<PauseSampler>(context_.burst, threads_.running());
      pause_.thread = threads_.make(turns_of(pause_.sampler));
    }
    return std::make_shared<PauseJob>(*netdev, std::move(watch), pause_);
  }

  bool stop(Clock::time_point deadline) override { return threads_.stop(deadline); }

 private:
  bool is_wanted(const std::string& device) const {
    const bool is_live = context_.burst.live && context_.host.speaks(host::NetlinkProtocol::rdma);
    const core::Pattern& devices = context_.burst.devices;
    return is_live && (!devices.is_set() || devices.matches(device));
  }

  const Context& context_;
  SamplingThreads threads_;
  PauseSampling pause_;
};

}  // namespace

extern const CollectorSpec burst_spec;
const CollectorSpec burst_spec{
    "burst",
    "Distributions of traffic, congestion and pause in windows of 10 ms to 1 s between scrapes",
    "a few counters every 10 ms to 1 s, in its own threads ([BURST.md](BURST.md))",
    false,
    burst_families,
    [](const Context& context) -> std::unique_ptr<Collector> {
      return std::make_unique<BurstCollector>(context);
    }};

}  // namespace rdma_exporter::collectors
