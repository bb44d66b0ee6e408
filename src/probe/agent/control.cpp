// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#include "probe/agent/control.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "probe/mesh/interface_addresses.h"

namespace rdma_exporter::probe {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kTicksToScan = 5;  // seconds

}  // namespace

Control::Control(std::shared_ptr<Registry> registry)
    : registry_(std::move(registry)),
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
  // What a session is made of cannot change under it.
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
  settings.most_sessions_per_peer = from.limits.queue_pairs;
  responder.emplace(io_, std::move(settings), acceptor_);
  auto started = responder->start();
  if (!started) responder.reset();
  return started;
}

core::Result<void> Control::listen(const AgentOptions& options, bool anew) {
  const auto make = [this](const AgentOptions& from) -> core::Result<void> {
    responder_.reset();
    if (!from.responder.enabled) return {};
    auto started = start_responder(responder_, from, from.responder.listen);
    if (!started) return started;
    for (const auto& endpoint : responder_->bound())
      log::info("the probe's responder listens",
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
      log::error("the probe's responder does not listen any more");
    if (!made) return made;
  }
  if (same_mesh) return {};
  mesh_.reset();
  if (!options.hostmesh) return {};
  return start_responder(mesh_, options, {{{asio::ip::address_v4::loopback(), 0}}});
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

// A device that is no longer listed is on its way out, and stays until it is let go.
void Control::scan() {
  if (std::exchange(scanning_, true)) return;
  workers_.post([this] {
    asio::post(io_, [this, names = verbs_device_names(), addresses = interface_addresses()] {
      scanning_ = false;
      if (ending_) return;
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
  workers_.post([this, name, nic = device.nic] {
    asio::post(io_, [this, name, nic, ports = nic->own_ports()] {
      const auto found = devices_.find(name);
      if (ending_ || found == devices_.end() || found->second.nic != nic) return;
      found->second.looking = false;
      for (const OwnPort& own : ports) found->second.ports.insert(own.port);
      if (remember(found->second.own_ports, ports)) choose_targets();
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
  for (auto* responder : {&responder_, &mesh_})
    if (*responder) (*responder)->end_sessions_of(name);
  choose_targets();
}

void Control::offer_devices() {
  std::vector<std::shared_ptr<Nic>> nics;
  for (const auto& [name, device] : devices_) nics.push_back(device.nic);
  acceptor_.use(std::move(nics));
}

void Control::shut_down() {
  std::promise<void> begun;
  asio::post(io_, [this, &begun] {
    ending_ = true;
    timer_.cancel();
    sources_.stop();
    responder_.reset();
    mesh_.reset();
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
