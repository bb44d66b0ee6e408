// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The part of Control that says who is probed and what scrapes see of it.
#include <algorithm>
#include <utility>

#include "log/log.h"
#include "probe/agent/control.h"

namespace rdma_exporter::probe {
namespace {

// Before a rotating target is called failing.
constexpr std::uint64_t kAttemptsThatTell = 10;

}  // namespace

void Control::on_own_addresses(std::set<std::string> addresses) {
  if (own_addresses_ == addresses) return;
  own_addresses_ = std::move(addresses);
  make_fleet();
}

// Not before it is known who this host is: it would probe itself.
void Control::make_fleet() {
  registry_->publish_sources(sources_.status());  // so that a page with the new targets has their number, too
  fleet_ = Fleet();
  if (own_addresses_ && !options_.sources.empty()) {
    OwnHost own{options_.session.host, *own_addresses_, {}};
    if (responder_) own.listening = responder_->bound();
    fleet_ = Fleet(sources_.targets(), options_.select, options_.discovered_port, std::move(own));
  }
  choose_targets();
}

void Control::choose_targets() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  epoch_ = static_cast<std::uint64_t>(now / options_.select.epoch);
  std::vector<OwnPort> ports;
  for (const auto& [name, device] : devices_)
    ports.insert(ports.end(), device.own_ports.begin(), device.own_ports.end());
  const auto device_of = [&ports](const std::string& address) {
    const auto gid = gid_of_address(address);
    for (const OwnPort& port : ports)
      for (const Gid& own : port.gids)
        if (gid && own == *gid) return port.device;
    return std::string();
  };
  targets_ = options_.targets;
  if (mesh_) {
    const auto own = hostmesh_targets(ports, mesh_->bound().front().port());
    targets_.insert(targets_.end(), own.begin(), own.end());
  }
  const auto chosen = fleet_.choose(epoch_, device_of);
  targets_.insert(targets_.end(), chosen.begin(), chosen.end());
  reconcile();
}

void Control::turn_epoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (fleet_.size() == 0 || epoch_ == static_cast<std::uint64_t>(now / options_.select.epoch)) return;
  choose_targets();
}

// Brings about what should be: each used port probes each target, as far as the limits go.
void Control::reconcile() {
  Registry::Contents contents;
  contents.active = options_.wanted();
  contents.queue_pairs_limit = options_.limits.queue_pairs;
  contents.responder = options_.responder.enabled || options_.hostmesh;
  std::vector<Probed> probed;
  for (auto& [name, device] : devices_) {
    reconcile_device(device, contents, probed);
    contents.nics.push_back(device.nic->stats());
  }
  // Whatever is not wanted any more is forgotten, here and on the page.
  std::map<SeriesKey, std::shared_ptr<TargetStats>> kept;
  std::map<SeriesKey, std::shared_ptr<TargetStats>> kept_rotating;
  std::map<SeriesKey, Registry::RttSeries> used;
  const auto steady =
      std::count_if(targets_.begin(), targets_.end(), [](const Target& t) { return !t.rotating; });
  const bool own = static_cast<std::size_t>(steady) <= options_.histogram_targets;
  for (const Registry::Series& series : contents.series)
    kept[{series.device, series.port, series.target}] = series.stats;
  for (const Probed& one : probed) {
    if (one.target->rotating) kept_rotating[one.key] = one.stats;
    use_histograms(one.key, *one.target, *one.stats, own && !one.target->rotating, used);
  }
  stats_ = std::move(kept);
  rotating_ = std::move(kept_rotating);
  rtts_ = std::move(used);
  for (const auto& [key, series] : rtts_) contents.rtts.push_back(series);
  contents.active_targets = probed.size();
  registry_->publish(std::move(contents));
}

// A target that stays has series of its own. One that rotates is counted in the sum, so that series do not
// come and go with the epochs.
std::shared_ptr<TargetStats> Control::stats_of(const SeriesKey& key, const Target& target,
                                               Registry::Contents& contents) {
  const auto& [device, port, name] = key;
  const std::string shown = target.rotating ? "" : name;
  auto& stats = stats_[{device, port, shown}];
  if (!stats) stats = target.rotating ? std::make_shared<TargetStats>() : begin({device, port, name});
  const auto same = [&](const Registry::Series& series) { return series.stats == stats; };
  if (std::none_of(contents.series.begin(), contents.series.end(), same))
    contents.series.push_back({device, port, shown, stats});
  if (!target.rotating) return stats;
  auto& own = rotating_[key];
  if (!own) {
    own = begin({device, port, name});
    own->add_to(stats);
  }
  return own;
}

void Control::reconcile_device(Device& device, Registry::Contents& contents, std::vector<Probed>& probed) {
  const SessionOptions& session = options_.session;
  const unsigned each = session.flows * ((session.one_sided() ? 1U : 0U) + (session.has(Op::echo) ? 1U : 0U));
  unsigned left = device.nic->most_of_a_role();
  std::map<ProberKey, std::shared_ptr<TargetStats>> wanted;
  std::set<std::pair<std::uint8_t, std::string>> names;
  for (const std::uint8_t port : device.ports) {
    for (const Target& target : targets_) {
      if (!target.from.empty() && target.from != device.nic->name()) continue;
      if (!names.emplace(port, target.name).second) continue;
      if (left < each) {
        ++contents.dropped_targets;
        continue;
      }
      left -= each;
      const SeriesKey key{device.nic->name(), port, target.name};
      const auto stats = stats_of(key, target, contents);
      probed.push_back({key, &target, stats});
      for (unsigned flow = 0; flow < session.flows; ++flow) wanted[{port, target, flow}] = stats;
    }
  }
  for (const auto& [key, unused] : device.probers)
    if (!wanted.contains(key)) device.nic->remove(key);
  std::map<ProberKey, bool> probers;
  for (const auto& [key, stats] : wanted) {
    probers[key] = true;
    if (!device.probers.contains(key))
      device.nic->add(io_, {key, device.nic->name(), options_.session, tls_, stats});
  }
  device.probers = std::move(probers);
}

std::shared_ptr<TargetStats> Control::begin(const Path& path) {
  if (options_.observer) options_.observer->begins(path);
  return std::make_shared<TargetStats>(path, options_.observer);
}

void Control::use_histograms(const SeriesKey& key, const Target& target, TargetStats& stats, bool own,
                             std::map<SeriesKey, Registry::RttSeries>& used) {
  const auto& [device, port, name] = key;
  const auto histogram = [] { return std::make_shared<core::Histogram>(kRttBounds); };
  const auto of_connects = [] { return std::make_shared<core::Histogram>(kConnectBounds); };
  // Named anew, because clang before 16 captures no structured bindings.
  const auto series = [&, &of_device = device, &of_port = port](
                          const SeriesKey& at, const std::string& of_target) -> Registry::RttSeries& {
    const auto old = rtts_.find(at);
    const auto [entry, is_new] = used.try_emplace(at);
    if (is_new && old != rtts_.end()) entry->second = old->second;
    if (is_new && old == rtts_.end()) entry->second = {of_device, of_port, of_target, target.group, {}};
    return entry->second;
  };
  Registry::RttSeries& group = series({device, port, "\n" + target.group}, "");
  Registry::RttSeries& rtt = own ? series({device, port, name}, name) : group;
  for (const Op op : options_.session.operations_on(devices_.at(device).nic->iwarp())) {
    auto& place = rtt.histograms.rtt[static_cast<std::size_t>(op)];
    if (!place) place = histogram();
    if (op == Op::read && !rtt.histograms.nic_read) rtt.histograms.nic_read = histogram();
    if (op == Op::echo && !group.histograms.responder_delay) group.histograms.responder_delay = histogram();
  }
  for (auto& place : group.histograms.connect)
    if (!place) place = of_connects();
  TargetStats::Histograms histograms = rtt.histograms;
  histograms.responder_delay = group.histograms.responder_delay;
  histograms.connect = group.histograms.connect;
  stats.use(std::move(histograms));
}

// Those that rotate have no series of their own that would tell which of them fails.
void Control::report_rotating_targets() {
  std::erase_if(failing_, [this](const SeriesKey& key) { return !rotating_.contains(key); });
  for (const auto& [key, stats] : rotating_) {
    std::uint64_t attempts = 0;
    std::uint64_t failures = 0;
    std::string_view reason;
    for (const OpStats& op : stats->snapshot().ops) {
      attempts += op.attempts;
      for (const auto& [cause, count] : op.failures) {
        failures += count;
        reason = cause.second;
      }
    }
    if (attempts < kAttemptsThatTell || 2 * failures < attempts || !failing_.insert(key).second) continue;
    log::warn("most probes of a target fail",
              {{"device", std::get<0>(key)}, {"target", std::get<2>(key)}, {"reason", std::string(reason)}});
  }
}

}  // namespace rdma_exporter::probe
