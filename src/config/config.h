// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.h"
#include "core/policy.h"
#include "core/text/pattern.h"
#include "log/log.h"

// The daemon's configuration as plain data: no library types, no hidden state, comparable.
// Every member has a row in option_table(), which defines its flag, its key in the file, its check and its
// help line.
namespace rdma_exporter::config {

using core::AsyncEventsPolicy;
using core::RawPolicy;
using core::ResourceDetail;
using core::ResourceOwners;
using LogLevel = log::Level;
using LogFormat = log::Format;

/// automatic: on if path.sysfs is a real sysfs mount.
enum class NetlinkMode : unsigned char { automatic, on, off };

struct WebConfig {
  std::vector<std::string> listen_addresses{
      ":9400"};                 ///< never empty, each as parse_listen_address() takes it
  bool systemd_socket = false;  ///< serve on the sockets that systemd passes instead
  std::string config_file;      ///< TLS, passwords, headers, rate limit; empty: none of them
  std::string telemetry_path = "/metrics";
  unsigned max_connections = 128;
  unsigned max_requests_per_connection = 1000;
  std::chrono::milliseconds read_timeout{10'000};   ///< for a TLS handshake, and for a whole request
  std::chrono::milliseconds write_timeout{10'000};  ///< for a whole response
  std::chrono::milliseconds idle_timeout{120'000};
  unsigned max_header_bytes = 16384;
  bool openmetrics_created = false;
  bool enable_lifecycle = false;  ///< POST /-/reload
  bool operator==(const WebConfig&) const = default;
};

struct PathConfig {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  bool operator==(const PathConfig&) const = default;
};

struct ScrapeConfig {
  std::chrono::milliseconds timeout{8'000};
  std::chrono::milliseconds timeout_offset{500};  ///< subtracted from the timeout that the scraper announces
  bool operator==(const ScrapeConfig&) const = default;
};

/// Expressions match whole names. Unset: include all devices, exclude none.
struct DeviceConfig {
  core::Pattern include;
  core::Pattern exclude;
  std::chrono::seconds forget_after{86'400};
  bool operator==(const DeviceConfig&) const = default;
};

struct LimitsConfig {
  unsigned workers = 256;
  unsigned series_per_device = 5000;
  unsigned kept_files = 16384;                  ///< file descriptors kept open between scrapes; 0: none
  unsigned page_bytes = 67'108'864;             ///< longest page, before compression
  unsigned pages_in_flight_bytes = 67'108'864;  ///< rendered, but not yet received by all clients
  bool operator==(const LimitsConfig&) const = default;
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::logfmt;
  bool operator==(const LogConfig&) const = default;
};

/// Settings that only the collector ethtool has.
struct EthtoolConfig {
  std::chrono::milliseconds interval{10'000};
  /// For the lean set; unset: none. The full set has all that raw_exclude does not match.
  core::Pattern raw_include;
  /// The default matches statistics of single rings: "rx0_packets", "[0]: rx_errors", "tx_queue_0_bytes",
  /// "rx-0.bytes".
  core::Pattern raw_exclude{R"((\[?\d|(qos_|ptp_)?(rx|tx|ch)(q|_queue)?[-_]?\d|(queue|veb\.tc)_\d).*)"};
  bool operator==(const EthtoolConfig&) const = default;
};

struct CollectorConfig {
  bool enabled = true;
  std::chrono::milliseconds timeout{5'000};
  bool operator==(const CollectorConfig&) const = default;
};

struct ResourceConfig {
  ResourceDetail detail = ResourceDetail::automatic;
  std::chrono::seconds detail_interval{60};
  std::chrono::milliseconds detail_timeout{10'000};
  unsigned max_qps = 20'000;
  unsigned max_entries = 200'000;
  ResourceOwners owners = ResourceOwners::cgroup;
  unsigned owners_top = 20;
  bool operator==(const ResourceConfig&) const = default;
};

/// Settings of the collector config_check.
struct ConfigCheckConfig {
  std::chrono::milliseconds interval{300'000};
  bool operator==(const ConfigCheckConfig&) const = default;
};

/// Settings of the collector module.
struct ModuleConfig {
  std::chrono::milliseconds interval{60'000};
  bool operator==(const ModuleConfig&) const = default;
};

/// When the collector burst reads PFC pause times in each window; automatic: after a pause.
enum class BurstPause : unsigned char { automatic, off, always };

/// Settings of the collector burst.
struct BurstConfig {
  std::chrono::milliseconds window{100};
  core::Pattern devices;  ///< unset: all
  BurstPause pause = BurstPause::automatic;
  unsigned max_cpu_percent = 1;  ///< of one processor, for all its threads together
  bool operator==(const BurstConfig&) const = default;
};

/// A peer to probe. Empty members: defaults as in docs/PROBE_SETUP.md.
struct ProbeTarget {
  std::string address;
  std::uint16_t port = 9401;
  std::string name;    ///< value of the label `target`
  std::string group;   ///< value of the label `target_group`
  std::string device;  ///< the peer's
  std::string from;    ///< this host's device
  std::string source;  ///< this host's RDMA address
  bool operator==(const ProbeTarget&) const = default;
};

enum class ProbeOperation : unsigned char { write, read, echo };

/// How queue pairs are connected; automatic: by rdma_cm on iWARP, otherwise by verbs.
enum class ProbeConnect : unsigned char { automatic, verbs, rdma_cm };

/// Where to find peers. The port applies to all of them; 0: as found.
struct ProbeDiscoveryConfig {
  std::vector<std::string> files;
  std::vector<std::string> names;
  std::vector<std::string> urls;
  std::string ca_file;
  std::chrono::seconds refresh{30};
  unsigned port = 0;
  bool operator==(const ProbeDiscoveryConfig&) const = default;
};

enum class ProbeScope : unsigned char { same, other };

/// Which of the discovered peers this host probes.
struct ProbeSelectConfig {
  std::string label = "rail";
  std::vector<ProbeScope> scopes{ProbeScope::same};
  unsigned ring = 4;
  unsigned rotate = 4;
  std::chrono::seconds epoch{300};
  bool operator==(const ProbeSelectConfig&) const = default;
};

/// The latency probe; off by default.
struct ProbeConfig {
  std::string mesh;  ///< list of peers of which this host is one: DNS name, file or URL; empty: none
  std::vector<ProbeTarget> targets;
  ProbeDiscoveryConfig discovery;
  ProbeSelectConfig select;
  bool hostmesh = false;
  bool responder = false;
  std::vector<std::string> listen_addresses{":9401"};  ///< each as parse_listen_address() takes it
  bool insecure = false;                               ///< listen beyond loopback without credentials
  std::string cert_file;
  std::string key_file;
  std::string ca_file;
  std::string secret_file;
  std::string cluster;
  core::Pattern device_include;  ///< as DeviceConfig's
  std::vector<ProbeOperation> operations{ProbeOperation::write, ProbeOperation::read, ProbeOperation::echo};
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds echo_interval{5'000};
  ProbeConnect connect = ProbeConnect::automatic;
  unsigned flows = 1;
  std::optional<unsigned> traffic_class;  ///< unset: as the host is set to
  unsigned service_level = 0;
  unsigned timeout = 14;  ///< exponent: 4.096 us * 2^timeout
  unsigned retry = 3;
  unsigned max_qps = 256;
  unsigned max_probes_per_second = 500;
  unsigned max_connects_per_second = 10;
  unsigned max_cpu_percent = 10;  ///< of one processor
  unsigned histogram_targets = 64;
  bool operator==(const ProbeConfig&) const = default;
};

/// Which families of the collectors are exported.
struct MetricsConfig {
  core::MetricSet set = core::MetricSet::lean;
  core::Pattern include;  ///< unset: all
  core::Pattern exclude;
  bool operator==(const MetricsConfig&) const = default;
};

struct Config {
  WebConfig web;
  PathConfig path;
  ScrapeConfig scrape;
  DeviceConfig device;
  LimitsConfig limits;
  MetricsConfig metrics;
  RawPolicy raw = RawPolicy::unmapped;
  AsyncEventsPolicy async_events = AsyncEventsPolicy::automatic;
  NetlinkMode netlink = NetlinkMode::automatic;
  std::string replay;    ///< a recording, archive or directory; empty: serve this host
  std::string textfile;  ///< write the page to this file and listen nowhere; empty: serve it
  std::chrono::milliseconds interval{15'000};  ///< between two writes of the text file
  LogConfig log;
  EthtoolConfig ethtool;
  ProbeConfig probe;
  ResourceConfig resource;  ///< of the collector `resource`
  ConfigCheckConfig config_check;
  ModuleConfig module;
  BurstConfig burst;
  std::map<std::string, CollectorConfig, std::less<>> collectors;  ///< one entry per known collector
  bool operator==(const Config&) const = default;
};

/// A collector of this binary, as its registry describes it. The views must outlive the call that they are
/// passed to.
struct CollectorChoice {
  std::string_view name;
  bool enabled = true;  ///< by default
  std::string_view help;
  std::vector<std::string_view> families = {};  ///< names of what it can emit
};

}  // namespace rdma_exporter::config
