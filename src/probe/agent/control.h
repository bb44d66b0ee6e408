// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "asio/socket.h"
#include "discovery/sources.h"
#include "probe/agent/options.h"
#include "probe/channel/responder.h"
#include "probe/channel/tls.h"
#include "probe/mesh/fleet.h"
#include "probe/mesh/rails.h"
#include "probe/rdma/nic_acceptor.h"
#include "probe/stats/registry.h"

namespace rdma_exporter::probe {

/// Makes the probe's decisions: which devices are open, who probes whom, what scrapes see. It has a thread of
/// its own, which never blocks; workers make the calls that may block.
class Control {
 public:
  Control(std::shared_ptr<Registry> registry, PresetClass preset_class);

  /// May be called on any thread.
  std::future<core::Result<void>> configure(const AgentOptions& options);
  /// May be called once, on any thread but its own: ends everything and waits for it, possibly forever.
  void shut_down();

 private:
  using SeriesKey =
      std::tuple<std::string, std::uint8_t, std::string, unsigned>;  // device, port, target, flow
  struct Probed {
    SeriesKey key;
    const Target* target;  ///< of targets_
    std::shared_ptr<TargetStats> stats;
  };
  struct Device {
    std::shared_ptr<Nic> nic;
    std::set<std::uint8_t> ports{};    ///< that have been active
    std::vector<OwnPort> own_ports{};  ///< what remember() stored about these ports
    std::map<ProberKey, bool> probers{};
    std::optional<Rail> rail{};                  ///< the rail that its probers were given
    std::map<std::uint8_t, unsigned> classes{};  ///< traffic classes that the host presets, by port
    bool looking = false;                        ///< its ports are being examined
  };

  core::Result<void> apply(const AgentOptions& options);
  core::Result<void> listen(const AgentOptions& options, bool anew);
  core::Result<void> start_responder(std::optional<Responder>& responder, const AgentOptions& from,
                                     std::vector<std::vector<asio::ip::tcp::endpoint>> listen);
  void end_sessions();
  void on_credentials(const std::string& stamp);
  core::Result<void> renew_credentials();
  void tick();
  void scan();
  void on_names(const std::vector<std::string>& names);
  void on_own_addresses(std::set<std::string> addresses);
  void make_fleet();
  void log_mesh_membership();
  void choose_targets();
  void turn_epoch();
  void open(const std::string& name);
  void on_open(const std::string& name, core::Result<std::shared_ptr<Nic>> opened);
  void add_device(const std::string& name, core::Result<std::shared_ptr<Nic>> opened);
  void look_at_ports(const std::string& name);
  void close(const std::string& name);
  bool wants(const std::string& name) const;
  void reconcile();
  std::map<ProberKey, std::shared_ptr<TargetStats>> wanted_from(const Device& device,
                                                                Registry::Contents& contents,
                                                                std::vector<Probed>& probed);
  void reconcile_device(Device& device, const std::map<ProberKey, std::shared_ptr<TargetStats>>& wanted);
  std::shared_ptr<TargetStats> stats_of(const SeriesKey& key, const Target& target,
                                        Registry::Contents& contents);
  void report_rotating_targets();
  std::shared_ptr<TargetStats> begin(const Path& path);
  void use_histograms(const SeriesKey& key, const Target& target, TargetStats& stats, bool own,
                      std::map<SeriesKey, Registry::RttSeries>& used);
  void offer_devices();
  bool order_rails();
  bool is_left_out(const std::string& device, const Target& target) const;
  void say_if_settled();

  std::shared_ptr<Registry> registry_;
  const PresetClass preset_class_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<Executor>> work_;
  Workers workers_;
  Timer timer_{io_};
  NicAcceptor acceptor_{workers_, io_};
  std::optional<Responder> responder_;
  std::optional<Responder> mesh_;  ///< on loopback, for this host's own devices
  AgentOptions options_;
  discovery::Sources sources_;
  std::optional<std::set<std::string>> own_addresses_;  ///< of network interfaces; unknown at first
  Fleet fleet_;
  std::optional<bool> member_;  ///< membership in the mesh, as last logged
  std::uint64_t epoch_ = 0;
  std::vector<Target> targets_;  ///< configured and chosen ones, in the order in which limits apply
  std::shared_ptr<asio::ssl::context> tls_;
  std::string stamp_;  ///< of the files of tls_
  StampWatch credentials_watch_;
  std::map<std::string, Device> devices_;
  std::map<std::string, RailDevice> rail_devices_;  ///< also devices that are gone: a rail keeps its place
  std::map<std::string, Rail> rails_;               ///< by the name of the device
  std::set<std::string> left_out_;                  ///< devices that are no rail: logged once
  std::set<std::string> opening_;
  std::map<std::string, std::string> complaints_;  ///< last error of opening each device, logged once
  std::map<SeriesKey, std::shared_ptr<TargetStats>> stats_;     ///< target "": sum of those that rotate
  std::map<SeriesKey, std::shared_ptr<TargetStats>> rotating_;  ///< each by itself, for the log
  std::set<SeriesKey> failing_;                                 ///< those of them that were reported
  std::map<SeriesKey, Registry::RttSeries> rtts_;               ///< target "": the group in the third element
  std::vector<std::weak_ptr<const void>> loops_;                ///< of loops that still exist
  unsigned ticks_ = 0;
  bool scanning_ = false;
  bool scanned_ = false;  ///< the devices of the host have been listed once
  bool ending_ = false;
  std::thread thread_;  // last member
};

}  // namespace rdma_exporter::probe
