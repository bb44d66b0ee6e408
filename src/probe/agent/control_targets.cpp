// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors

// The part of Control that decides whom to probe, and what scrapes see of it.
#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "log/log.h"
#include "probe/agent/control.h"
#include "probe/mesh/stable_hash.h"

namespace rdma_exporter::probe {
namespace {

// Attempts before a rotating target is reported as failing.
constexpr std::uint64_t kAttemptsThatTell = 10;

// If not all targets fit, each port starts at a different one. Otherwise all hosts with the same list would
// keep its first targets, and nobody would probe the rest.
std::vector<const Target*> in_order_of_limits(const std::vector<Target>& targets, const std::string& host,
                                              const std::string& device, std::uint8_t port, std::size_t fit) {
  std::vector<std::pair<std::uint64_t, const Target*>> order;
  for (const Target& target : targets) order.emplace_back(0, &target);
  if (targets.size() > fit) {
    for (auto& [place, target] : order)
      place =
          mixed(stable_hash(host + "/" + device + "/" + std::to_string(port)) + stable_hash(target->name)) >>
              1 |
          (target->rotating ? 1ULL << 63 : 0);
    std::sort(order.begin(), order.end());
  }
  std::vector<const Target*> result;
  for (const auto& [place, target] : order) result.push_back(target);
  return result;
}

// The traffic classes that the host presets, of each port that has one.
std::map<std::uint8_t, unsigned> preset_classes(const std::vector<OwnPort>& ports) {
  std::map<std::uint8_t, unsigned> classes;
  for (const OwnPort& port : ports)
    if (port.traffic_class) classes[port.port] = *port.traffic_class;
  return classes;
}

}  // namespace

void Control::on_own_addresses(std::set<std::string> addresses) {
  if (own_addresses_ == addresses) return;
  own_addresses_ = std::move(addresses);
  make_fleet();
}

// Waits until this host's own identity is known; otherwise it would probe itself.
void Control::make_fleet() {
  registry_->publish_sources(sources_.status());  // so that a page with the new targets also has their number
  fleet_ = Fleet();
  if (own_addresses_ && !options_.sources.empty()) {
    OwnHost own{options_.session.host, *own_addresses_, {}};
    if (responder_) own.listening = responder_->bound();
    fleet_ = Fleet(sources_.targets(), options_.select, options_.discovered_port, std::move(own));
  }
  log_mesh_membership();
  choose_targets();
  say_if_settled();
}

// Logged once. Nothing else shows that a mesh lacks this host: nobody probes it.
void Control::log_mesh_membership() {
  std::optional<bool> member;
  if (options_.select.mesh && fleet_.size() != 0) member = fleet_.has_self();
  if (std::exchange(member_, member) == member || !member) return;
  if (options_.observer) options_.observer->mesh(fleet_.size(), *member);
  const std::string entries = std::to_string(fleet_.size());
  if (*member) return log::info("this host is a member of the mesh", {{"entries", entries}});
  const auto bound = responder_ ? responder_->bound() : std::vector<asio::ip::tcp::endpoint>();
  log::error(
      "probe.mesh does not list this host, so it probes nobody: list it by its host name or an address of "
      "its interfaces, with the port of its responder",
      {{"host", options_.session.host},
       {"port", std::to_string(bound.empty() ? kDefaultPort : bound.front().port())},
       {"entries", entries}});
}

void Control::choose_targets() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  epoch_ = static_cast<std::uint64_t>(now / options_.select.epoch);
  std::vector<OwnPort> ports;
  for (const auto& [name, device] : devices_)
    ports.insert(ports.end(), device.own_ports.begin(), device.own_ports.end());
  const auto device_of = [this, &ports](const std::string& address) {
    const auto gid = gid_of_address(address);
    for (const OwnPort& port : ports)
      for (const Gid& own : port.gids)
        if (gid && own == *gid && !is_left_out(port.device, {})) return port.device;
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

// Orders the devices whose ports have been examined. True if a device's place has changed.
bool Control::order_rails() {
  for (const auto& [name, device] : devices_) {
    const bool frontend = std::any_of(device.own_ports.begin(), device.own_ports.end(),
                                      [](const OwnPort& port) { return port.default_route; });
    if (!device.own_ports.empty())
      rail_devices_[name] = {name, device.nic->loop()->device()->pci_address(), frontend};
  }
  std::vector<RailDevice> devices;
  for (const auto& [name, device] : rail_devices_) devices.push_back(device);
  auto rails = rails_of(std::move(devices));
  const bool changed = std::exchange(rails_, rails) != rails;
  if (changed) offer_devices();
  for (const auto& [name, device] : devices_)
    if (!device.own_ports.empty() && is_left_out(name, {}) && left_out_.insert(name).second)
      log::info("the probe leaves out the device of the default route; probe.device_include can select it",
                {{"device", name}});
  return changed;
}

// The frontend network is not a rail: all rails of a peer that is addressed by its host name would meet
// there.
bool Control::is_left_out(const std::string& device, const Target& target) const {
  if (options_.device_include.is_set() || target.from == device || rails_.empty()) return false;
  return !rails_.contains(device);
}

// Establishes the desired state: each used port probes each target, within the limits.
void Control::reconcile() {
  Registry::Contents contents;
  contents.active = options_.wanted();
  contents.queue_pairs_limit = options_.limits.queue_pairs;
  contents.mesh_member = member_;
  contents.responder = options_.responder.enabled || options_.hostmesh;
  std::vector<Probed> probed;
  for (auto& [name, device] : devices_) {
    reconcile_device(device, wanted_from(device, contents, probed));
    contents.nics.push_back(device.nic->stats());
  }
  // Sessions that are no longer wanted are removed, here and from the page.
  std::map<SeriesKey, std::shared_ptr<TargetStats>> kept;
  std::map<SeriesKey, std::shared_ptr<TargetStats>> kept_rotating;
  std::map<SeriesKey, Registry::RttSeries> used;
  const auto steady =
      std::count_if(targets_.begin(), targets_.end(), [](const Target& t) { return !t.rotating; });
  const bool own = static_cast<std::size_t>(steady) <= options_.histogram_targets;
  for (const Registry::Series& series : contents.series)
    kept[{series.device, series.port, series.target, series.flow}] = series.stats;
  std::set<std::tuple<std::string, std::uint8_t, std::string>> targets;
  for (const Probed& one : probed) {
    const auto& [device, port, name, flow] = one.key;
    targets.emplace(device, port, name);
    if (one.target->rotating) {
      kept_rotating[one.key] = one.stats;
      contents.rotating.push_back({device, port, name, flow, one.stats});
    }
    const Target& target = *one.target;
    if (!target.rotating && flow == 0 && !(target.leaf.empty() && target.rail.empty()))
      contents.places.push_back({device, port, name, target.group, target.leaf, target.rail});
    use_histograms(one.key, target, *one.stats, own && !target.rotating, used);
  }
  stats_ = std::move(kept);
  rotating_ = std::move(kept_rotating);
  rtts_ = std::move(used);
  for (const auto& [key, series] : rtts_) contents.rtts.push_back(series);
  contents.active_targets = targets.size();
  registry_->publish(std::move(contents));
}

// A permanent target has series of its own. A rotating one is counted in a common sum, so that series do not
// come and go with the epochs.
std::shared_ptr<TargetStats> Control::stats_of(const SeriesKey& key, const Target& target,
                                               Registry::Contents& contents) {
  const auto& [device, port, name, flow] = key;
  const std::string shown = target.rotating ? "" : name;
  const unsigned shown_flow = target.rotating ? 0 : flow;
  auto& stats = stats_[{device, port, shown, shown_flow}];
  if (!stats) stats = target.rotating ? std::make_shared<TargetStats>() : begin({device, port, name, flow});
  const auto same = [&](const Registry::Series& series) { return series.stats == stats; };
  if (std::none_of(contents.series.begin(), contents.series.end(), same))
    contents.series.push_back({device, port, shown, shown_flow, stats});
  if (!target.rotating) return stats;
  auto& own = rotating_[key];
  if (!own) {
    own = begin({device, port, name, flow});
    own->add_to(stats);
  }
  return own;
}

// What a device is to probe, as far as it may; the rest is counted as dropped.
std::map<ProberKey, std::shared_ptr<TargetStats>> Control::wanted_from(const Device& device,
                                                                       Registry::Contents& contents,
                                                                       std::vector<Probed>& probed) {
  const SessionOptions& session = options_.session;
  const unsigned each = session.flows * ((session.one_sided() ? 1U : 0U) + (session.has(Op::echo) ? 1U : 0U));
  unsigned left = device.nic->max_per_role();
  std::map<ProberKey, std::shared_ptr<TargetStats>> wanted;
  std::set<std::pair<std::uint8_t, std::string>> names;
  for (const std::uint8_t port : device.ports) {
    for (const Target* wish : in_order_of_limits(targets_, options_.session.host, device.nic->name(), port,
                                                 each == 0 ? targets_.size() : left / each)) {
      const Target& target = *wish;
      if (!target.from.empty() && target.from != device.nic->name()) continue;
      if (is_left_out(device.nic->name(), target)) continue;
      if (!names.emplace(port, target.name).second) continue;
      if (left < each) {
        ++contents.dropped_targets;
        continue;
      }
      left -= each;
      for (unsigned flow = 0; flow < session.flows; ++flow) {
        const SeriesKey key{device.nic->name(), port, target.name, flow};
        const auto stats = stats_of(key, target, contents);
        probed.push_back({key, &target, stats});
        wanted[{port, target, flow}] = stats;
      }
    }
  }
  return wanted;
}

// Ends what a device is no longer to probe, and begins what it does not probe yet.
void Control::reconcile_device(Device& device,
                               const std::map<ProberKey, std::shared_ptr<TargetStats>>& wanted) {
  const SessionOptions& session = options_.session;
  const auto rail = rails_.find(device.nic->name());
  const auto place = rail == rails_.end() ? std::nullopt : std::optional(rail->second);
  // Its sessions may lead to another rail now, or belong into another class.
  const auto classes = preset_classes(device.own_ports);
  const bool reclassed = std::exchange(device.classes, classes) != classes && !session.traffic_class;
  const bool moved = std::exchange(device.rail, place) != place || reclassed;
  for (const auto& [key, unused] : device.probers)
    if (moved || !wanted.contains(key)) device.nic->remove(key);
  if (moved) device.probers.clear();
  std::map<ProberKey, bool> probers;
  for (const auto& [key, stats] : wanted) {
    probers[key] = true;
    if (device.probers.contains(key)) continue;
    SessionOptions options = session;
    const auto preset = classes.find(key.port);
    if (!options.traffic_class && preset != classes.end()) options.traffic_class = preset->second;
    device.nic->add(io_, {key, device.nic->name(), place, std::move(options), tls_, stats});
  }
  device.probers = std::move(probers);
}

std::shared_ptr<TargetStats> Control::begin(const Path& path) {
  if (options_.observer) options_.observer->begins(path);
  return std::make_shared<TargetStats>(path, options_.observer);
}

void Control::use_histograms(const SeriesKey& key, const Target& target, TargetStats& stats, bool own,
                             std::map<SeriesKey, Registry::RttSeries>& used) {
  const auto& [device, port, name, flow] = key;
  // In a mesh all rails share histograms: with one for each of eight rails, most series of a host would be
  // their buckets.
  const bool shared = options_.select.mesh;
  const std::string shown_device = shared ? "" : device;
  const std::uint8_t shown_port = shared ? 0 : port;
  const auto histogram = [] { return std::make_shared<core::Histogram>(kRttBounds); };
  const auto of_connects = [] { return std::make_shared<core::Histogram>(kConnectBounds); };
  const auto series = [&](const SeriesKey& at, const std::string& of_target) -> Registry::RttSeries& {
    const auto old = rtts_.find(at);
    const auto [entry, is_new] = used.try_emplace(at);
    if (is_new && old != rtts_.end()) entry->second = old->second;
    if (is_new) entry->second.group = target.group;  // the group may have changed
    if (is_new && old == rtts_.end()) entry->second = {shown_device, shown_port, of_target, target.group, {}};
    return entry->second;
  };
  Registry::RttSeries& group = series({shown_device, shown_port, "\n" + target.group, 0}, "");
  Registry::RttSeries& rtt = own && !shared ? series({device, port, name, 0}, name) : group;
  for (const Op op : options_.session.operations_on(devices_.at(device).nic->iwarp())) {
    auto& place = rtt.histograms.rtt[static_cast<std::size_t>(op)];
    if (!place) place = histogram();
    if (op == Op::read && !rtt.histograms.nic_read) rtt.histograms.nic_read = histogram();
    if (op != Op::echo && !group.histograms.cold) group.histograms.cold = histogram();
    if (op == Op::echo && !group.histograms.responder_delay) group.histograms.responder_delay = histogram();
  }
  for (auto& place : group.histograms.connect)
    if (!place) place = of_connects();
  TargetStats::Histograms histograms = rtt.histograms;
  histograms.responder_delay = group.histograms.responder_delay;
  histograms.cold = group.histograms.cold;
  histograms.connect = group.histograms.connect;
  stats.use(std::move(histograms));
}

// Rotating targets have no series of their own that would show which of them fails.
void Control::report_rotating_targets() {
  std::erase_if(failing_, [this](const SeriesKey& key) { return !rotating_.contains(key); });
  for (const auto& [key, stats] : rotating_) {
    std::uint64_t attempts = 0;
    std::uint64_t failures = 0;
    std::string_view reason;
    const auto snapshot = stats->snapshot();
    for (const OpStats& op : snapshot.ops) {
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
