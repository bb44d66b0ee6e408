// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/control.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "probe/mesh/own_network.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kTicksToScan = 5;  // seconds

}  // namespace

Control::Control(std::shared_ptr<Registry> registry, PresetClass preset_class)
    : registry_(std::move(registry)),
      preset_class_(std::move(preset_class)),
      work_(io_.get_executor()),
      sources_([this] {
        asio::post(io_, [this] {
          if (!ending_) make_fleet();
        });
      }),
      thread_([this] { io_.run(); }) {
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
  // The parts of a session must not change while it exists.
  std::string stamp = file_stamp(options.session.credentials);
  const bool anew = options.session != options_.session || stamp != stamp_;
  const bool other_limits = options.limits != options_.limits;
  if (auto listening = listen(options, anew); !listening) return listening;
  tls_ = *tls;
  stamp_ = std::move(stamp);
  options_ = options;
  if (anew) end_sessions();
  sources_.configure(options.sources);
  for (auto device = devices_.begin(); device != devices_.end();) {
    const std::string name = (device++)->first;
    if (other_limits || !wants(name)) close(name);
  }
  make_fleet();
  scan();
  return {};
}

core::Result<void> Control::start_responder(std::optional<Responder>& responder, const AgentOptions& from,
                                            std::vector<std::vector<asio::ip::tcp::endpoint>> listen) {
  ResponderOptions settings;
  settings.listen = std::move(listen);
  settings.credentials = from.session.credentials;
  settings.insecure = from.responder.insecure;
  settings.cluster = from.session.cluster;
  settings.host = from.session.host;
  responder.emplace(io_, std::move(settings), acceptor_);
  auto started = responder->start();
  if (!started) responder.reset();
  offer_devices();
  return started;
}

core::Result<void> Control::listen(const AgentOptions& options, bool anew) {
  const auto make = [this](const AgentOptions& from) -> core::Result<void> {
    responder_.reset();
    if (!from.responder.enabled) return {};
    auto started = start_responder(responder_, from, from.responder.listen);
    if (!started) return started;
    for (const auto& endpoint : responder_->bound())
      log::info("the probe's responder is listening",
                {{"address", endpoint.address().to_string()},
                 {"port", std::to_string(endpoint.port())},
                 {"tls", from.session.credentials.none() ? "false" : "true"}});
    return {};
  };
  const bool same_mesh = !anew && options.limits == options_.limits && mesh_.has_value() == options.hostmesh;
  const bool same_place = options.responder == options_.responder && options.limits == options_.limits;
  if (anew || !same_place || responder_.has_value() != options.responder.enabled) {
    auto made = make(options);
    if (!made && options_.responder.enabled && !make(options_))
      log::error("the probe's responder no longer listens");
    if (!made) return made;
  }
  if (same_mesh) return {};
  mesh_.reset();
  if (!options.hostmesh) return {};
  return start_responder(mesh_, options, {{{asio::ip::address_v4::loopback(), 0}}});
}

// Ends all sessions; reconcile() creates new ones. Counts are kept.
void Control::end_sessions() {
  for (auto& [name, device] : devices_) {
    device.nic->stop();
    device.probers.clear();
  }
  for (const auto& [key, stats] : stats_) stats->forget_session();
  for (const auto& [key, stats] : rotating_) stats->forget_session();
}

// Applies changed keys without a restart. A changed secret affects only new connections; certificates need
// new TLS contexts, and therefore new sessions.
core::Result<void> Control::renew_credentials() {
  if (options_.session.credentials.secret_file.empty()) return apply(options_);
  const std::string stamp = file_stamp(options_.session.credentials);
  auto renewed = renew_secrets(*tls_, options_.session.credentials.secret_file);
  for (auto* responder : {&responder_, &mesh_})
    if (renewed && *responder) renewed = (*responder)->renew_secrets();
  if (renewed) stamp_ = stamp;
  return renewed;
}

void Control::on_credentials(const std::string& stamp) {
  if (!tls_ || !credentials_watch_.changed(stamp_, stamp)) return;
  const auto renewed = renew_credentials();
  if (renewed) return log::info("the probe uses its changed credentials");
  log::error("the probe's changed credentials are invalid, keeping the old ones",
             {{"error", core::to_string(renewed.error())}});
}

void Control::tick() {
  if (ending_) return;
  if (responder_) registry_->publish_inbound(responder_->refused(), responder_->held());
  registry_->publish_sources(sources_.status());
  turn_epoch();
  if (++ticks_ % kTicksToScan == 0) {
    scan();
    report_rotating_targets();
  }
  timer_.expires_after(1s);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

bool Control::wants(const std::string& name) const {
  if (!options_.wanted()) return false;
  const core::Pattern& include = options_.device_include;
  return !include.is_set() || include.matches(name);
}

// A device that is no longer listed is being removed, and its removal waits until the device is released.
void Control::scan() {
  if (std::exchange(scanning_, true)) return;
  workers_.post([this, credentials = options_.session.credentials] {
    asio::post(io_, [this, names = verbs_device_names(), addresses = interface_addresses(),
                     stamp = file_stamp(credentials)] {
      scanning_ = false;
      if (ending_) return;
      on_credentials(stamp);
      on_own_addresses(addresses);
      on_names(names);
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
  scanned_ = true;
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
  std::erase_if(loops_, [](const auto& life) { return life.expired(); });
  loops_.push_back((*opened)->loop()->life());
  if (ending_ || !wants(name)) return;
  complaints_.erase(name);
  devices_[name].nic = std::move(*opened);
  offer_devices();
  look_at_ports(name);
}

void Control::look_at_ports(const std::string& name) {
  Device& device = devices_[name];
  if (std::exchange(device.looking, true)) return;
  const auto look = [this, name, nic = device.nic] {
    auto ports = nic->own_ports(default_route_netdev());
    if (preset_class_)
      for (OwnPort& own : ports) own.traffic_class = preset_class_(name, own.port);
    asio::post(io_, [this, name, nic, ports = std::move(ports)] {
      const auto found = devices_.find(name);
      if (ending_ || found == devices_.end() || found->second.nic != nic) return;
      found->second.looking = false;
      for (const OwnPort& own : ports) found->second.ports.insert(own.port);
      const bool is_new = remember(found->second.own_ports, ports);
      if (order_rails() || is_new) choose_targets();
      say_if_settled();
    });
  };
  workers_.post(look, device.nic->loop()->owner());
}

// Once the mesh's list has been read, or cannot be read.
void Control::say_if_settled() {
  bool busy = !scanned_ || std::any_of(devices_.begin(), devices_.end(),
                                       [](const auto& entry) { return entry.second.looking; });
  if (options_.select.mesh && !member_)
    for (const auto& source : sources_.status())
      busy = busy || (!source.failing && (!source.known || source.targets != 0));
  if (options_.observer && !busy && opening_.empty()) options_.observer->settled();
}

void Control::close(const std::string& name) {
  const auto found = devices_.find(name);
  if (found == devices_.end()) return;
  log::info("the probe has released a device", {{"device", name}});
  found->second.nic->stop();
  devices_.erase(found);
  offer_devices();
  for (auto* responder : {&responder_, &mesh_})
    if (*responder) (*responder)->end_sessions_of(name);
  choose_targets();
}

void Control::offer_devices() {
  std::vector<std::shared_ptr<Nic>> nics;
  for (const auto& [name, device] : devices_) nics.push_back(device.nic);
  acceptor_.use(std::move(nics), rails_);
  workers_.set_owners(2 * devices_.size() + 1);  // two for each device, and the acceptor
  // One peer with as many devices may use all queue pairs of this host.
  const auto most =
      static_cast<unsigned>(std::max<std::size_t>(1, devices_.size())) * options_.limits.queue_pairs;
  for (auto* responder : {&responder_, &mesh_})
    if (*responder) (*responder)->set_max_sessions_per_peer(most);
}

void Control::shut_down() {
  std::promise<void> begun;
  asio::post(io_, [this, &begun] {
    ending_ = true;
    timer_.cancel();
    sources_.stop();
    responder_.reset();
    mesh_.reset();
    acceptor_.use({}, {});
    for (auto& [name, device] : devices_) device.nic->stop();
    devices_.clear();
    registry_->publish({});
    begun.set_value();
  });
  begun.get_future().wait();
  // Loops and workers release sessions; they end when nobody holds them any more.
  const auto quiet = [this] {
    std::promise<bool> answer;
    asio::post(io_, [&] {
      bool none = opening_.empty() && !scanning_ && sources_.idle();
      for (const auto& life : loops_) none = none && life.expired();
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
