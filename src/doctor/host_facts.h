// SPDX-License-Identifier: Apache-2.0
// Copyright the rdma_exporter authors
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "facts/facts.h"

// What the checks judge: the facts about a host, and what the exporter's own metrics did during a sample.
namespace rdma_exporter::doctor {

using facts::AdapterFacts;
using facts::AddressFacts;
using facts::DeviceFacts;
using facts::DeviceRefs;
using facts::EcnFacts;
using facts::Fact;
using facts::is_absent;
using facts::NetdevFacts;
using facts::PcieEnd;
using facts::PcieLink;
using facts::PciFacts;
using facts::PortFacts;
using facts::ResourceFacts;
using facts::SystemFacts;
using facts::TrafficClass;
using facts::Vector;

/// One of the exporter's counters at two times.
struct CounterFacts {
  std::string metric;  ///< family: "rdma_port_ack_timeouts_total"
  std::string labels;  ///< as on the page
  std::string device;
  std::string port;
  std::string netdev;
  double total = 0;             ///< since the driver was loaded, mostly since boot
  std::optional<double> moved;  ///< during the sample; nullopt: it did not exist at both times
};

/// One of the exporter's gauges.
struct GaugeFacts {
  std::string metric;  ///< family: "rdma_device_health_error"
  std::string labels;  ///< as on the page
  std::string device;
  std::string port;
  std::string netdev;
  double value = 0;
};

/// The exporter's own probe, as far as it is configured.
struct ProbeFacts {
  std::optional<std::uint32_t> traffic_class;  ///< nullopt: the port's, else `otherwise`
  std::uint32_t otherwise = 0;
};

struct Facts {
  SystemFacts system;
  std::optional<ProbeFacts> probe;  ///< nullopt: it is off
  std::vector<DeviceFacts> devices;
  bool devices_listed = true;  ///< false: the list itself was late
  /// Names of devices that did not answer in time; `devices` does not contain them.
  std::vector<std::string> silent_devices;
  std::vector<CounterFacts> counters;
  std::vector<GaugeFacts> gauges;
  double sample_seconds = 0;
};

}  // namespace rdma_exporter::doctor
