// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/control.h"

#include <algorithm>
#include <utility>

#include "log/log.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kTicksToScan = 5;  // seconds

}  // namespace

Control::Control(std::shared_ptr<Registry> registry)
    : registry_(std::move(registry)), work_(io_.get_executor()), thread_([this] { io_.run(); }) {
  asio::post(io_, [this] { tick(); });
}

std::future<core::Result<void>> Control::configure(const AgentOptions& options) {
  auto promise = std::make_shared<std::promise<core::Result<void>>>();
  asio::post(io_, [this, options, promise] { promise->set_value(apply(options)); });
  return promise->get_future();
}

core::Result<void> Control::apply(const AgentOptions& options) {
  auto tls = make_tls(options.session.credentials, TlsRole::client);
  if (!tls) return tl::unexpected(tls.error());
  // What a session is made of cannot change under it.
  std::string stamp = file_stamp(options.session.credentials);
  const bool anew = options.session != options_.session || stamp != stamp_;
  const bool other_limits = options.limits != options_.limits;
  if (auto listening = listen(options, anew); !listening) return listening;
  tls_ = *tls;
  stamp_ = std::move(stamp);
  options_ = options;
  include_.reset();
  if (!options.device_include.empty()) include_.emplace(options.device_include);
  if (anew) end_sessions();
  for (auto device = devices_.begin(); device != devices_.end();) {
    const std::string name = (device++)->first;
    if (other_limits || !wants(name)) close(name);
  }
  reconcile();
  scan();
  return {};
}

core::Result<void> Control::listen(const AgentOptions& options, bool anew) {
  const auto make = [this](const AgentOptions& from) -> core::Result<void> {
    responder_.reset();
    if (!from.responder.enabled) return {};
    ResponderOptions settings;
    settings.listen = from.responder.listen;
    settings.credentials = from.session.credentials;
    settings.insecure = from.responder.insecure;
    settings.cluster = from.session.cluster;
    settings.host = from.session.host;
    settings.most_sessions_per_peer = from.limits.queue_pairs;
    responder_.emplace(io_, std::move(settings), acceptor_);
    auto started = responder_->start();
    if (!started) {
      responder_.reset();
      return started;
    }
    for (const auto& endpoint : responder_->bound())
      log::info("the probe's responder listens",
                {{"address", endpoint.address().to_string()},
                 {"port", std::to_string(endpoint.port())},
                 {"tls", from.session.credentials.none() ? "false" : "true"}});
    return {};
  };
  const bool same_place = options.responder == options_.responder && options.limits == options_.limits;
  if (!anew && same_place && responder_.has_value() == options.responder.enabled) return {};
  auto made = make(options);
  if (!made && options_.responder.enabled && !make(options_))
    log::error("the probe's responder does not listen any more");
  return made;
}

// Each session ends, and is made anew by reconcile(). What was counted stays.
void Control::end_sessions() {
  for (auto& [name, device] : devices_) {
    device.nic->stop();
    device.probers.clear();
  }
  for (const auto& [key, stats] : stats_) stats->forget_sessions();
}

void Control::tick() {
  if (ending_) return;
  if (responder_) registry_->publish_refused(responder_->refused());
  if (++ticks_ % kTicksToScan == 0) scan();
  timer_.expires_after(1s);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

bool Control::wants(const std::string& name) const {
  if (!options_.responder.enabled && options_.targets.empty()) return false;
  return !include_ || std::regex_match(name, *include_);
}

// A device that is no longer listed is on its way out, and stays until it is let go.
void Control::scan() {
  if (std::exchange(scanning_, true)) return;
  workers_.post([this] {
    asio::post(io_, [this, names = verbs_device_names()] {
      scanning_ = false;
      if (!ending_) on_names(names);
    });
  });
}

void Control::on_names(const std::vector<std::string>& names) {
  const std::set<std::string> listed(names.begin(), names.end());
  for (auto device = devices_.begin(); device != devices_.end();) {
    const std::string name = (device++)->first;
    if (!listed.contains(name)) close(name);
  }
  for (const std::string& name : names) {
    if (!wants(name)) continue;
    if (devices_.contains(name))
      look_at_ports(name);
    else
      open(name);
  }
  say_if_settled();
}

void Control::open(const std::string& name) {
  if (!opening_.insert(name).second) return;
  workers_.post([this, name, limits = options_.limits] {
    auto gone = [this, name] {
      asio::post(io_, [this, name] {
        if (!ending_) close(name);
      });
    };
    auto opened = Nic::open(name, limits, workers_, std::move(gone));
    asio::post(io_, [this, name, opened = std::move(opened)]() mutable { on_open(name, std::move(opened)); });
  });
}

void Control::on_open(const std::string& name, core::Result<std::shared_ptr<Nic>> opened) {
  opening_.erase(name);
  add_device(name, std::move(opened));
  say_if_settled();
}

void Control::add_device(const std::string& name, core::Result<std::shared_ptr<Nic>> opened) {
  if (!opened) {
    const std::string problem = core::to_string(opened.error());
    if (std::exchange(complaints_[name], problem) != problem)
      log::warn("the probe cannot use a device", {{"device", name}, {"error", problem}});
    return;
  }
  std::erase_if(loops_, [](const auto& loop) { return loop.expired(); });
  loops_.push_back((*opened)->loop());
  if (ending_ || !wants(name)) return;
  complaints_.erase(name);
  devices_[name].nic = std::move(*opened);
  offer_devices();
  look_at_ports(name);
}

void Control::look_at_ports(const std::string& name) {
  Device& device = devices_[name];
  if (std::exchange(device.looking, true)) return;
  workers_.post([this, name, nic = device.nic] {
    asio::post(io_, [this, name, nic, ports = nic->active_ports()] {
      const auto found = devices_.find(name);
      if (ending_ || found == devices_.end() || found->second.nic != nic) return;
      found->second.looking = false;
      const std::size_t before = found->second.ports.size();
      found->second.ports.insert(ports.begin(), ports.end());
      if (found->second.ports.size() != before) reconcile();
      say_if_settled();
    });
  });
}

void Control::say_if_settled() {
  const bool busy =
      std::any_of(devices_.begin(), devices_.end(), [](const auto& entry) { return entry.second.looking; });
  if (options_.observer && !busy && opening_.empty()) options_.observer->settled();
}

void Control::close(const std::string& name) {
  const auto found = devices_.find(name);
  if (found == devices_.end()) return;
  log::info("the probe lets go of a device", {{"device", name}});
  found->second.nic->stop();
  devices_.erase(found);
  offer_devices();
  if (responder_) responder_->end_sessions_of(name);
  reconcile();
}

void Control::offer_devices() {
  std::vector<std::shared_ptr<Nic>> nics;
  for (const auto& [name, device] : devices_) nics.push_back(device.nic);
  acceptor_.use(std::move(nics));
}

// Brings about what should be: each used port probes each target, as far as the limits go.
void Control::reconcile() {
  Registry::Contents contents;
  contents.active = options_.responder.enabled || !options_.targets.empty();
  contents.queue_pairs_limit = options_.limits.queue_pairs;
  contents.responder = options_.responder.enabled;
  for (auto& [name, device] : devices_) {
    reconcile_device(device, contents);
    contents.nics.push_back(device.nic->stats());
  }
  // Whatever is not wanted any more is forgotten, here and on the page.
  std::map<SeriesKey, std::shared_ptr<TargetStats>> kept;
  std::map<SeriesKey, Registry::RttSeries> used;
  const bool own = options_.targets.size() <= options_.histogram_targets;
  std::map<std::string, const Target*> targets;
  for (const Target& target : options_.targets) targets.try_emplace(target.name, &target);
  for (const Registry::Series& series : contents.series) {
    const SeriesKey key{series.device, series.port, series.target};
    kept[key] = series.stats;
    use_histograms(key, *targets[series.target], *series.stats, own, used);
  }
  stats_ = std::move(kept);
  rtts_ = std::move(used);
  for (const auto& [key, series] : rtts_) contents.rtts.push_back(series);
  registry_->publish(std::move(contents));
}

void Control::reconcile_device(Device& device, Registry::Contents& contents) {
  const SessionOptions& session = options_.session;
  const unsigned each = session.flows * ((session.one_sided() ? 1U : 0U) + (session.has(Op::echo) ? 1U : 0U));
  unsigned left = device.nic->most_of_a_role();
  std::map<ProberKey, bool> wanted;
  std::set<std::pair<std::uint8_t, std::string>> names;
  for (const std::uint8_t port : device.ports) {
    for (const Target& target : options_.targets) {
      if (!target.from.empty() && target.from != device.nic->name()) continue;
      if (!names.emplace(port, target.name).second) continue;
      if (left < each) {
        ++contents.dropped_targets;
        continue;
      }
      left -= each;
      auto& stats = stats_[{device.nic->name(), port, target.name}];
      if (!stats) stats = begin({device.nic->name(), port, target.name});
      contents.series.push_back({device.nic->name(), port, target.name, stats});
      for (unsigned flow = 0; flow < options_.session.flows; ++flow) wanted[{port, target, flow}] = true;
    }
  }
  for (const auto& [key, unused] : device.probers)
    if (!wanted.contains(key)) device.nic->remove(key);
  for (const auto& [key, unused] : wanted) {
    if (device.probers.contains(key)) continue;
    device.nic->add(io_, {key, device.nic->name(), options_.session, tls_,
                          stats_[{device.nic->name(), key.port, key.target.name}]});
  }
  device.probers = std::move(wanted);
}

std::shared_ptr<TargetStats> Control::begin(const Path& path) {
  if (options_.observer) options_.observer->begins(path);
  return std::make_shared<TargetStats>(path, options_.observer);
}

void Control::use_histograms(const SeriesKey& key, const Target& target, TargetStats& stats, bool own,
                             std::map<SeriesKey, Registry::RttSeries>& used) {
  const auto& [device, port, name] = key;
  const auto histogram = [] { return std::make_shared<core::Histogram>(kRttBounds); };
  const auto series = [&](const SeriesKey& at, const std::string& of_target) -> Registry::RttSeries& {
    const auto old = rtts_.find(at);
    const auto [entry, is_new] = used.try_emplace(at);
    if (is_new && old != rtts_.end()) entry->second = old->second;
    if (is_new && old == rtts_.end()) entry->second = {device, port, of_target, target.group, {}};
    return entry->second;
  };
  Registry::RttSeries& group = series({device, port, "\n" + target.group}, "");
  Registry::RttSeries& rtt = own ? series({device, port, name}, name) : group;
  for (const Op op : options_.session.operations) {
    auto& place = rtt.histograms.rtt[static_cast<std::size_t>(op)];
    if (!place) place = histogram();
    if (op == Op::echo && !group.histograms.responder_delay) group.histograms.responder_delay = histogram();
  }
  TargetStats::Histograms histograms = rtt.histograms;
  histograms.responder_delay = group.histograms.responder_delay;
  stats.use(std::move(histograms));
}

void Control::shut_down() {
  std::promise<void> begun;
  asio::post(io_, [this, &begun] {
    ending_ = true;
    timer_.cancel();
    responder_.reset();
    acceptor_.use({});
    for (auto& [name, device] : devices_) device.nic->stop();
    devices_.clear();
    registry_->publish({});
    begun.set_value();
  });
  begun.get_future().wait();
  // Sessions are given back by loops and workers, which end when nobody holds them any more.
  const auto quiet = [this] {
    std::promise<bool> answer;
    asio::post(io_, [&] {
      bool none = opening_.empty() && !scanning_;
      for (const auto& loop : loops_) none = none && loop.expired();
      answer.set_value(none);
    });
    return answer.get_future().get();
  };
  while (!quiet()) std::this_thread::sleep_for(1ms);
  workers_.stop();
  work_.reset();
  io_.stop();
  thread_.join();
}

}  // namespace rdma_exporter::probe
