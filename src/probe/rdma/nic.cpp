// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/rdma/nic.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace rdma_exporter::probe {
namespace {

// A session has at most two queue pairs with seven outstanding completions, a peer's session two with eight.
constexpr unsigned kCompletionsPerQp = 4;

// CPU time of the calling thread so far.
std::chrono::nanoseconds thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ProberSet::ProberSet(const Limits& limits, std::shared_ptr<NicStats> stats)
    : limits_(limits),
      stats_(std::move(stats)),
      generator_(std::random_device{}()),
      random_([this] { return std::uniform_real_distribution<double>()(generator_); }),
      connects_(std::chrono::nanoseconds(std::chrono::seconds(1)) / limits.connects_per_second,
                limits.connects_per_second),
      watchdog_(limits.cpu_percent / 100.0) {}

void ProberSet::add(const ProberKey& key, double rate,
                    const std::function<std::unique_ptr<Prober>(std::function<void()> changed)>& make) {
  remove(key);
  Entry& entry = probers_[key];
  entry.rate = rate;
  entry.place = queue_.end();
  entry.prober = make([this, &entry] { enqueue(entry, Clock::time_point::min()); });
  enqueue(entry, Clock::time_point::min());
  balance();
}

void ProberSet::remove(const ProberKey& key) {
  const auto gone = probers_.find(key);
  if (gone == probers_.end()) return;
  enqueue(gone->second, std::nullopt);
  probers_.erase(gone);
  balance();
}

void ProberSet::clear() {
  queue_.clear();
  for (auto& [key, entry] : probers_) entry.place = queue_.end();
  probers_.clear();
}

void ProberSet::enqueue(Entry& entry, std::optional<Clock::time_point> time) {
  if (entry.place != queue_.end()) queue_.erase(entry.place);
  entry.place = time ? queue_.emplace(*time, &entry) : queue_.end();
}

void ProberSet::balance() {
  double wanted = 0;
  for (const auto& [key, entry] : probers_) wanted += entry.rate;
  stretch_ = std::max(stretch_for(wanted, limits_.probes_per_second), 1 / watchdog_.rate());
  stats_->rate_multiplier = 1 / stretch_;
}

void ProberSet::look_at_cost(Clock::time_point now) {
  if (!watchdog_.due(now)) return;
  watchdog_.measure(now, thread_time());
  balance();
}

std::optional<Clock::time_point> ProberSet::advance(Clock::time_point now) {
  look_at_cost(now);
  if (!queue_.empty() && queue_.begin()->first <= now) {
    Entry& entry = *queue_.begin()->second;
    const auto next = entry.prober->advance(now, stretch_, connects_);
    enqueue(entry, next);
  }
  return queue_.empty() ? std::nullopt : std::optional(queue_.begin()->first);
}

void ProberSet::on_event(const DeviceEvent& event) {
  const Clock::time_point now = Clock::now();
  for (auto& [key, entry] : probers_) {
    entry.prober->on_event(event, now);
    enqueue(entry, now);
  }
}

core::Result<std::shared_ptr<Nic>> Nic::open(const std::string& name, const Limits& limits, Workers& workers,
                                             std::function<void()> on_fatal) {
  auto device = VerbsDevice::open(name);
  if (!device) return tl::unexpected(device.error());
  auto made = DeviceLoop::make(*device, limits.queue_pairs * kCompletionsPerQp);
  if (!made) return tl::unexpected(made.error());
  // The last holder may be on the loop's own thread, which cannot join itself.
  const std::shared_ptr<DeviceLoop> loop(made->release(), [&workers](DeviceLoop* gone) {
    workers.post([gone] { delete gone; }, gone->owner());
  });
  auto stats = std::make_shared<NicStats>();
  stats->device = name;
  std::shared_ptr<Nic> nic(new Nic(loop, std::move(stats), limits, workers));
  loop->add({[probers = nic->probers_](Clock::time_point now) { return probers->advance(now); },
             [probers = nic->probers_, stats = nic->stats_,
              on_fatal = std::move(on_fatal)](const DeviceEvent& event) {
               stats->events.count(event.name);
               probers->on_event(event);
               if (event.kind == DeviceEvent::Kind::fatal) on_fatal();
             }});
  loop->start();
  return nic;
}

Nic::Nic(std::shared_ptr<DeviceLoop> loop, std::shared_ptr<NicStats> stats, const Limits& limits,
         Workers& workers)
    : loop_(std::move(loop)),
      stats_(std::move(stats)),
      limits_(limits),
      workers_(workers),
      ends_(std::make_shared<LocalQpPairs>(loop_, workers, stats_->queue_pairs, max_per_role())),
      probers_(std::make_shared<ProberSet>(limits, stats_)) {}

std::vector<std::uint8_t> Nic::active_ports() const {
  std::vector<std::uint8_t> active;
  for (unsigned port = 1; port <= loop_->device()->ports(); ++port) {
    const auto facts = loop_->device()->port(static_cast<std::uint8_t>(port));
    if (facts && facts->active) active.push_back(static_cast<std::uint8_t>(port));
  }
  return active;
}

std::vector<OwnPort> Nic::own_ports(std::uint32_t default_route) const {
  std::vector<OwnPort> ports;
  for (const std::uint8_t port : active_ports()) {
    const auto facts = loop_->device()->port(port);
    const auto gids = loop_->device()->gids(port);
    if (!facts) continue;
    OwnPort own{name(), port, facts->link, {}};
    for (const GidEntry& entry : gids.value_or(std::vector<GidEntry>())) {
      if (entry.usable && !entry.gid.zero()) own.gids.push_back(entry.gid);
      own.default_route = own.default_route || (default_route != 0 && entry.netdev == default_route);
    }
    ports.push_back(std::move(own));
  }
  return ports;
}

void Nic::add(asio::io_context& io, ProberSpec spec) {
  loop_->post([loop = loop_.get(), &workers = workers_, &io, ends = ends_, probers = probers_,
               spec = std::move(spec)]() mutable {
    const ProberKey key = spec.key;
    const double rate = Prober::rate(spec.options);
    probers->add(key, rate, [&](std::function<void()> changed) {
      return std::make_unique<Prober>(*loop, workers, io, std::move(ends), std::move(spec), probers->random(),
                                      std::move(changed));
    });
  });
}

void Nic::remove(const ProberKey& key) {
  loop_->post([probers = probers_, key] { probers->remove(key); });
}

void Nic::stop() {
  loop_->post([probers = probers_] { probers->clear(); });
}

}  // namespace rdma_exporter::probe
